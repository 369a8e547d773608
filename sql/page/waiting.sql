-- How many tasks wait or run, and the least id of these.
-- $1 whether those too that are due later, $2 most tasks to look at
SELECT count(*), coalesce(min(d.id), 0)
FROM (
    SELECT t.id
    FROM :table AS t
    WHERE t.due IS NOT NULL
        AND t.due <= CASE WHEN $1::bool THEN 'infinity'::timestamptz ELSE statement_timestamp() END
    ORDER BY t.due, t.id
    LIMIT $2::int8
) AS d
