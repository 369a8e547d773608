-- Which of these rows nobody has locked. Of several with one id all must be free.
-- $1 ids
SELECT l.id
FROM pg_catalog.unnest($1::pg_catalog.int8[]) AS l (id)
CROSS JOIN LATERAL (
    SELECT pg_catalog.count(*) AS n
    FROM (
        SELECT
        FROM :table AS w
        WHERE w.id OPERATOR(pg_catalog.>=) l.id
            AND w.id OPERATOR(pg_catalog.<=) l.id
        ORDER BY w.id
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS t
) AS free
WHERE free.n OPERATOR(pg_catalog.>) 0
    AND free.n OPERATOR(pg_catalog.=) (
        SELECT pg_catalog.count(*)
        FROM (
            SELECT
            FROM :table AS w
            WHERE w.id OPERATOR(pg_catalog.>=) l.id
                AND w.id OPERATOR(pg_catalog.<=) l.id
            ORDER BY w.id
        ) AS t
    )
