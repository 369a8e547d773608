-- How many tasks wait or run, and the least id of them, of so many.
-- $1 most tasks that are looked at
SELECT pg_catalog.count(*), coalesce(pg_catalog.min(d.id), 0)
FROM (
    SELECT t.id
    FROM :table AS t
    WHERE t.due IS NOT NULL
    ORDER BY t.due, t.id
    LIMIT $1::pg_catalog.int8
) AS d
