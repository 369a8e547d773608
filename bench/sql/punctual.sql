-- How late tasks started, and how many started too early.
-- $1 the last id before them
SELECT
    percentile_disc(0.99) WITHIN GROUP (ORDER BY start - plan),
    count(*) FILTER (WHERE start < plan)
FROM task
WHERE id > $1
