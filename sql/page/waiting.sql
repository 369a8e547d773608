-- How many tasks wait or run.
-- $1 whether those too that are due later, $2 most tasks to look at
SELECT count(*)
FROM (
    SELECT t.id
    FROM :table AS t
    WHERE t.due IS NOT NULL
        AND t.due <= CASE WHEN $1::bool THEN 'infinity'::timestamptz ELSE statement_timestamp() END
    ORDER BY t.due, t.id
    LIMIT $2::int8
) AS d
