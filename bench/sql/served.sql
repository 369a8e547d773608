-- What was served of a backlog: how many tasks ended as they should, how many did not, from the first start to the last stop, and
-- from a moment to the first start.
-- $1 that moment, $2 output
WITH seen AS (
    SELECT
        start,
        stop,
        (state = 'DONE' AND output = $2 AND error IS NULL AND start <= stop AND pid IS NOT NULL) IS TRUE AS good
    FROM task
    WHERE stop >= $1 OR state <> 'PLAN' AND stop IS NULL
)
SELECT
    count(*) FILTER (WHERE good),
    count(*) FILTER (WHERE NOT good),
    coalesce(max(stop) - min(start), '0'),
    coalesce(min(start) - $1, '0')
FROM seen
