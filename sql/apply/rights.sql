-- The role, and what it may do so as to read a table.
-- $1 schema, $2 table
SELECT
    quote_ident(current_user),
    has_schema_privilege(n.oid, 'USAGE'),
    has_table_privilege(c.oid, 'SELECT')
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = $1
    AND c.relname = $2
