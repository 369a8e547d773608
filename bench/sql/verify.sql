-- How many tasks ended as they should and left an effect, how long after the first start that was seen, and one that did not.
-- $1 output, $2 the last id before them, $3 when the end of all was seen
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
