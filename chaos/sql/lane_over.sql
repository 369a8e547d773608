-- Tasks that started beside more of their lane than their max allows. Which of two that start within 20 ms was let go first, start does
-- not tell: then it is enough that one of them may run beside so many.
WITH moment AS (
    SELECT "group", id, max, start AS at, 1 AS change FROM task WHERE start IS NOT NULL
    UNION ALL
    SELECT "group", id, max, coalesce(stop, 'infinity'), -1 FROM task WHERE start IS NOT NULL
), running AS (
    SELECT *, sum(change) OVER (PARTITION BY "group" ORDER BY at, change, id ROWS UNBOUNDED PRECEDING) - 1 AS others FROM moment
)
SELECT format('task %s of %s with max %s started at %s beside %s', r.id, r."group", r.max, r.at, o.seen)
FROM running AS r,
    LATERAL (
        SELECT
            count(*),
            count(*) FILTER (WHERE t.start < r.at - interval '20 ms') AS earlier,
            greatest(r.max, max(t.max)) AS most,
            string_agg(format('%s (max %s, %s to %s, %s)', t.id, t.max, t.start, t.stop, t.state), ', ') AS seen
        FROM task AS t
        WHERE t."group" = r."group" AND t.id <> r.id AND t.start <= r.at AND coalesce(t.stop, 'infinity') > r.at
    ) AS o
WHERE r.change = 1 AND r.others > r.max AND (o.earlier > r.max OR o.count > o.most)
