-- The columns of a table.
-- $1 schema, $2 table
SELECT
    a.attname::pg_catalog.text,
    pg_catalog.format_type(a.atttypid, a.atttypmod),
    a.atttypid OPERATOR(pg_catalog.=) ANY (ARRAY['pg_catalog.json'::pg_catalog.regtype, 'pg_catalog.jsonb'::pg_catalog.regtype]::pg_catalog.oid[]),
    coalesce(pg_catalog.pg_get_expr(d.adbin, d.adrelid), 'NULL')
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) c.oid
LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid OPERATOR(pg_catalog.=) c.oid AND d.adnum OPERATOR(pg_catalog.=) a.attnum
WHERE n.nspname OPERATOR(pg_catalog.=) $1
    AND c.relname OPERATOR(pg_catalog.=) $2
    AND a.attnum OPERATOR(pg_catalog.>) 0
    AND NOT a.attisdropped
ORDER BY a.attnum
