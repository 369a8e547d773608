-- Results of a backlog: how many tasks have not ended well, the time from the first start until the
-- ends were counted, and the time from a moment to the first start.
-- $1 that moment, $2 output, $3 when the ends were counted
WITH seen AS (
    SELECT
        start,
        (state = 'DONE' AND output = $2 AND error IS NULL AND start <= stop AND pid IS NOT NULL) IS TRUE AS good
    FROM task
    WHERE stop >= $1 OR state <> 'PLAN' AND stop IS NULL
)
SELECT
    count(*) FILTER (WHERE NOT good),
    coalesce($3 - min(start), '0'),
    coalesce(min(start) - $1, '0')
FROM seen
