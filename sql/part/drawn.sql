-- An id for the row f; one that somebody has taken by hand is drawn again. Where many in a row are,
-- each draw passes over twice as many as the one before it.
WITH RECURSIVE drawn AS (
    SELECT pg_catalog.nextval((:sequence)::pg_catalog.oid::pg_catalog.regclass) AS id, 1::pg_catalog.int8 AS draws
    WHERE f.id IS NOT NULL -- one for each
    UNION ALL
    SELECT
        (
            SELECT pg_catalog.max(pg_catalog.nextval((:sequence)::pg_catalog.oid::pg_catalog.regclass))
            FROM pg_catalog.generate_series(1, 1 OPERATOR(pg_catalog.<<) greatest(0, least(20, d.draws OPERATOR(pg_catalog.-) 16))::pg_catalog.int4)
        ),
        d.draws OPERATOR(pg_catalog.+) 1
    FROM drawn AS d
    CROSS JOIN LATERAL (SELECT FROM :table AS o WHERE o.id OPERATOR(pg_catalog.>=) d.id AND o.id OPERATOR(pg_catalog.<=) d.id ORDER BY o.id LIMIT 1) AS taken
)
SELECT pg_catalog.max(r.id) AS id
FROM drawn AS r
LEFT JOIN LATERAL (SELECT o.id FROM :table AS o WHERE o.id OPERATOR(pg_catalog.>=) r.id AND o.id OPERATOR(pg_catalog.<=) r.id ORDER BY o.id LIMIT 1) AS taken ON true
WHERE taken.id IS NULL
