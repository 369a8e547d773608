-- How many tasks wait or run, and the least id of them, of so many.
-- $1 most tasks that are looked at
SELECT count(*), coalesce(min(d.id), 0)
FROM (
    SELECT t.id
    FROM :table AS t
    WHERE t.due IS NOT NULL
    ORDER BY t.due, t.id
    LIMIT $1::int8
) AS d
