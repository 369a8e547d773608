-- What a row holds: a digest of each column. The row is told as in text.sql.
-- $1 id, $2 version of the row that was read, $3 pid of the session
SELECT pg_catalog.jsonb_object_agg(e.key, e.digest)::pg_catalog.text
FROM (:pinned) AS s
CROSS JOIN LATERAL (
    SELECT c.key, pg_catalog.md5(c.value) AS digest
    FROM (
        SELECT pg_catalog.to_jsonb(t) AS held
        FROM :table AS t
        CROSS JOIN (SELECT $2::pg_catalog.int4 AS version, $3::pg_catalog.int4 AS pid) AS e
        WHERE t.id OPERATOR(pg_catalog.>=) $1::pg_catalog.int8
            AND t.id OPERATOR(pg_catalog.<=) $1::pg_catalog.int8
            AND :as_read
            AND s.pinned IS NOT NULL
        ORDER BY t.id
    ) AS r
    CROSS JOIN LATERAL pg_catalog.jsonb_each_text(r.held) AS c
) AS e
