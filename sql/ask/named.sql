-- Tasks by their ids.
-- $1 ids
SELECT
    :task
FROM pg_catalog.unnest($1::pg_catalog.int8[]) AS l (id)
CROSS JOIN LATERAL (
    SELECT w.*
    FROM :table AS w
    WHERE w.id OPERATOR(pg_catalog.>=) l.id
        AND w.id OPERATOR(pg_catalog.<=) l.id
    ORDER BY w.id
) AS t
