-- Raises an error when the task's own SQL has changed its row. An ALTER TABLE that rewrites the
-- table makes each row a new version: then what the row holds is compared with what it held before,
-- but for columns that were altered. exec tells this error by its types.
-- $1 id, $2 image of the row before the task began
WITH own AS MATERIALIZED (
    SELECT t.tableoid AS part, t.ctid AS place
    FROM :table AS t
    WHERE t.id >= $1::int8
        AND t.id <= $1::int8
        AND :written
    ORDER BY t.id
)
SELECT 1::int2 / (NOT EXISTS (
    SELECT
    FROM own AS o
    WHERE NOT EXISTS (
            SELECT
            FROM pg_class AS t
            WHERE t.oid = o.part
                AND NOT :older
        )
        OR EXISTS (
            SELECT
            FROM (:pinned) AS s
            CROSS JOIN LATERAL (
                SELECT c.key, coalesce(md5(c.value), '') AS digest
                FROM :table AS t
                CROSS JOIN LATERAL jsonb_each_text(to_jsonb(t)) AS c
                WHERE t.tableoid = o.part
                    AND t.ctid = o.place
                    AND s.pinned IS NOT NULL
                OFFSET 0
            ) AS e
            JOIN pg_attribute AS t ON t.attrelid = o.part AND t.attname::text = e.key
            WHERE :older -- it has not been altered
                AND jsonb_exists($2::jsonb, e.key)
                AND coalesce($2::jsonb ->> e.key, '') <> e.digest
        )
))::int4
