-- The earliest plan that is still to come; whether there are foreign servers; and what changes when the table's columns do.
-- $1 schema, $2 table
SELECT
    pg_catalog.clock_timestamp(),
    (SELECT min(t.due) FROM :table AS t WHERE t.due IS NOT NULL AND t.due > statement_timestamp() AND t.due < 'infinity'),
    EXISTS (SELECT FROM pg_catalog.pg_foreign_server),
    (
        SELECT coalesce(sum(pg_catalog.hashtextextended(a.attname::text, a.attnum)), 0)::text
        FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid
        WHERE n.nspname = $1 AND c.relname = $2 AND a.attnum > 0 AND NOT a.attisdropped
    )
