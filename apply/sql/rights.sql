-- The role, and what it may do so as to read a table.
-- $1 schema, $2 table
SELECT
    pg_catalog.quote_ident(current_user),
    pg_catalog.has_schema_privilege(n.oid, 'USAGE'),
    pg_catalog.has_table_privilege(c.oid, 'SELECT')
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE n.nspname OPERATOR(pg_catalog.=) $1
    AND c.relname OPERATOR(pg_catalog.=) $2
