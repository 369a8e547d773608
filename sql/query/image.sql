-- What a row holds: a digest of each column.
-- $1 id
SELECT pg_catalog.jsonb_object_agg(e.key, e.digest)::pg_catalog.text
FROM (:pinned) AS s
CROSS JOIN LATERAL (
    SELECT c.key, pg_catalog.md5(c.value) AS digest
    FROM (
        SELECT pg_catalog.to_jsonb(t) AS held
        FROM :table AS t
        WHERE t.id OPERATOR(pg_catalog.>=) $1
            AND t.id OPERATOR(pg_catalog.<=) $1
            AND s.pinned IS NOT NULL
        ORDER BY t.id
    ) AS r
    CROSS JOIN LATERAL pg_catalog.jsonb_each_text(r.held) AS c
) AS e
