-- Raises an error when the task's own SQL has changed its row. An ALTER TABLE that rewrites the
-- table makes each row a new version: then what the row holds is compared with what it held before,
-- but for columns that were altered. exec tells this error by its types.
-- $1 id, $2 image of the row before the task began
WITH own AS MATERIALIZED (
    SELECT t.tableoid AS part, t.ctid AS place
    FROM :table AS t
    WHERE t.id OPERATOR(pg_catalog.>=) $1::pg_catalog.int8
        AND t.id OPERATOR(pg_catalog.<=) $1::pg_catalog.int8
        AND :written
    ORDER BY t.id
)
SELECT 1::pg_catalog.int2 OPERATOR(pg_catalog./) (NOT EXISTS (
    SELECT
    FROM own AS o
    WHERE NOT EXISTS (
            SELECT
            FROM pg_catalog.pg_class AS t
            WHERE t.oid OPERATOR(pg_catalog.=) o.part
                AND NOT :older
        )
        OR EXISTS (
            SELECT
            FROM (:pinned) AS s
            CROSS JOIN LATERAL (
                SELECT c.key, coalesce(pg_catalog.md5(c.value), '') AS digest
                FROM :table AS t
                CROSS JOIN LATERAL pg_catalog.jsonb_each_text(pg_catalog.to_jsonb(t)) AS c
                WHERE t.tableoid OPERATOR(pg_catalog.=) o.part
                    AND t.ctid OPERATOR(pg_catalog.=) o.place
                    AND s.pinned IS NOT NULL
                OFFSET 0
            ) AS e
            JOIN pg_catalog.pg_attribute AS t ON t.attrelid OPERATOR(pg_catalog.=) o.part AND t.attname::pg_catalog.text OPERATOR(pg_catalog.=) e.key
            WHERE :older -- it has not been altered
                AND pg_catalog.jsonb_exists($2::pg_catalog.jsonb, e.key)
                AND coalesce($2::pg_catalog.jsonb OPERATOR(pg_catalog.->>) e.key, '') OPERATOR(pg_catalog.<>) e.digest
        )
))::pg_catalog.int4
