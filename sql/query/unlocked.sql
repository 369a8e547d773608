-- Which of these rows nobody has locked.
-- $1 ids
SELECT t.id
FROM pg_catalog.unnest($1::pg_catalog.int8[]) AS l (id)
CROSS JOIN LATERAL (
    SELECT w.id
    FROM :table AS w
    WHERE w.id OPERATOR(pg_catalog.>=) l.id
        AND w.id OPERATOR(pg_catalog.<=) l.id
    ORDER BY w.id
    FOR NO KEY UPDATE SKIP LOCKED
) AS t
