-- The sequences that belong to columns of the table.
-- $1 schema, $2 table
SELECT quote_ident(m.nspname) || '.' || quote_ident(s.relname)
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_depend AS d ON d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = c.oid AND d.deptype IN ('a', 'i')
JOIN pg_catalog.pg_class AS s ON s.oid = d.objid AND s.relkind = 'S' AND s.relowner OPERATOR(pg_catalog.=) c.relowner
JOIN pg_catalog.pg_namespace AS m ON m.oid = s.relnamespace
WHERE n.nspname = $1
    AND c.relname = $2
