-- An id for the row f: the first one that nobody has taken by hand. Each that is drawn is looked at,
-- so that nobody can have more passed over than they have taken. Where 131,072 in a row are, or two
-- seconds have passed, it is an error, which exec tells by its types: the next draw goes on there.
WITH RECURSIVE drawn AS (
    SELECT NULL::pg_catalog.int8 AS id, 1 AS draws, pg_catalog.clock_timestamp() AS began
    WHERE f.id IS NOT NULL -- one for each
    UNION ALL
    SELECT free.id, d.draws OPERATOR(pg_catalog.+) least(1024, d.draws), d.began
    FROM drawn AS d
    LEFT JOIN LATERAL (
        SELECT n.id
        FROM (
            SELECT pg_catalog.nextval((:sequence)::pg_catalog.oid::pg_catalog.regclass) AS id
            FROM pg_catalog.generate_series(1, least(1024, d.draws))
        ) AS n
        LEFT JOIN LATERAL (SELECT o.id FROM :table AS o WHERE o.id OPERATOR(pg_catalog.>=) n.id AND o.id OPERATOR(pg_catalog.<=) n.id ORDER BY o.id LIMIT 1) AS taken ON true
        WHERE taken.id IS NULL
        LIMIT 1 -- no more than that are drawn
    ) AS free ON true
    WHERE d.id IS NULL
        AND d.draws OPERATOR(pg_catalog.<=) 131072
        AND pg_catalog.clock_timestamp() OPERATOR(pg_catalog.<) (d.began OPERATOR(pg_catalog.+) '2 s')
)
SELECT CASE WHEN ('0'::pg_catalog.interval OPERATOR(pg_catalog./) pg_catalog.count(r.id)::pg_catalog.float8) OPERATOR(pg_catalog.=) '0'::pg_catalog.interval THEN pg_catalog.max(r.id) END AS id
FROM drawn AS r
