-- The columns of a table: the name, its type, whether it is text, and whether values may be long.
-- $1 schema, $2 table
SELECT
    a.attname::text AS name,
    a.atttypid AS kind,
    a.atttypid = ANY (ARRAY['text'::regtype, 'varchar'::regtype]::oid[]) AS texts,
    a.attlen < 0 AS wide
FROM pg_namespace AS n
JOIN pg_class AS c ON c.relnamespace = n.oid
JOIN pg_attribute AS a ON a.attrelid = c.oid
WHERE n.nspname = $1::text
    AND c.relname = $2::text
    AND a.attnum > 0
    AND NOT a.attisdropped
ORDER BY a.attnum
