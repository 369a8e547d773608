-- Which rights the role lacks to serve the table, as the statements that give them.
-- $1 schema, $2 table
SELECT 'GRANT USAGE ON SCHEMA ' || quote_ident(n.nspname) || ' TO ' || quote_ident(current_user)
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = $2
    AND NOT has_schema_privilege(n.oid, 'USAGE')
UNION ALL
SELECT 'GRANT ' || string_agg(r.name, ', ') || ' ON ' || quote_ident(n.nspname) || '.' || quote_ident(c.relname) || ' TO ' || quote_ident(current_user)
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
CROSS JOIN (VALUES ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE')) AS r (name)
WHERE n.nspname = $1 AND c.relname = $2
    AND NOT has_table_privilege(c.oid, r.name)
GROUP BY n.nspname, c.relname
UNION ALL
SELECT 'GRANT USAGE ON SEQUENCE ' || quote_ident(n.nspname) || '.' || quote_ident(s.relname) || ' TO ' || quote_ident(current_user)
FROM pg_catalog.pg_depend AS d
JOIN pg_catalog.pg_class AS s ON s.oid = d.objid
JOIN pg_catalog.pg_class AS c ON c.oid = d.refobjid
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE d.refclassid = 'pg_class'::regclass
    AND d.deptype IN ('a', 'i')
    AND n.nspname = $1 AND c.relname = $2
    AND CASE WHEN s.relkind = 'S' THEN NOT has_sequence_privilege(s.oid, 'USAGE') END
