-- How many tasks ended well, how many effects there are, the time from the first start until all
-- ends were seen, and an example of a task that did not end well.
-- $1 output, $2 the last id before them, $3 when all ends were seen
WITH seen AS (
    SELECT
        *,
        (state = 'DONE' AND output = $1 AND error IS NULL AND start <= stop AND pid IS NOT NULL) IS TRUE AS good
    FROM task
    WHERE id > $2
)
SELECT
    count(*) FILTER (WHERE good),
    (SELECT count(*) FROM effect),
    coalesce($3 - min(start), '0'),
    coalesce(min(concat_ws(' ', state, output, error)) FILTER (WHERE NOT good), '')
FROM seen
