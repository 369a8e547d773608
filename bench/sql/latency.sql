-- The first task does not count.
SELECT
    percentile_disc(0.5) WITHIN GROUP (ORDER BY start - created),
    percentile_disc(0.99) WITHIN GROUP (ORDER BY start - created)
FROM task
WHERE id > (SELECT min(id) FROM task)
