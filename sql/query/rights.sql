-- The rights that the role lacks to serve the table, as statements that grant them.
-- $1 schema, $2 table
SELECT format('GRANT USAGE ON SCHEMA %I TO %I', n.nspname, current_user)
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = $1
    AND c.relname = $2
    AND NOT has_schema_privilege(n.oid, 'USAGE')
UNION ALL
SELECT format('GRANT %s ON %I.%I TO %I', string_agg(r.name, ', '), n.nspname, c.relname, current_user)
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
CROSS JOIN (VALUES ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE')) AS r (name)
WHERE n.nspname = $1
    AND c.relname = $2
    AND NOT has_table_privilege(c.oid, r.name)
GROUP BY n.nspname, c.relname
UNION ALL
SELECT format('GRANT USAGE ON SEQUENCE %I.%I TO %I', n.nspname, s.relname, current_user)
FROM pg_depend AS d
JOIN pg_class AS s ON s.oid = d.objid
JOIN pg_class AS c ON c.oid = d.refobjid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE d.refclassid = 'pg_class'::regclass
    AND d.deptype = ANY ('{a,i}')
    AND n.nspname = $1
    AND c.relname = $2
    AND CASE WHEN s.relkind = 'S' THEN NOT has_sequence_privilege(s.oid, 'USAGE') END
