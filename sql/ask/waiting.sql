-- How many tasks wait or run, at most this many, and the least id of these.
-- $1 most tasks to look at
SELECT count(*), coalesce(min(d.id), 0)
FROM (
    SELECT t.id
    FROM :table AS t
    WHERE t.due IS NOT NULL
    ORDER BY t.due, t.id
    LIMIT $1::int8
) AS d
