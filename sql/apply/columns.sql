-- The columns of a table.
-- $1 schema, $2 table
SELECT
    a.attname::text,
    format_type(a.atttypid, a.atttypmod),
    a.atttypid = ANY (ARRAY['json'::regtype, 'jsonb'::regtype]::oid[]),
    coalesce(pg_get_expr(d.adbin, d.adrelid), 'NULL')
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_attribute AS a ON a.attrelid = c.oid
LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE n.nspname = $1
    AND c.relname = $2
    AND a.attnum > 0
    AND NOT a.attisdropped
ORDER BY a.attnum
