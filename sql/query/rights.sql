-- Which rights the role lacks to serve the table, as the statements that give them.
-- $1 schema, $2 table
SELECT pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %I', n.nspname, current_user)
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE n.nspname OPERATOR(pg_catalog.=) $1
    AND c.relname OPERATOR(pg_catalog.=) $2
    AND NOT pg_catalog.has_schema_privilege(n.oid, 'USAGE')
UNION ALL
SELECT pg_catalog.format('GRANT %s ON %I.%I TO %I', pg_catalog.string_agg(r.name, ', '), n.nspname, c.relname, current_user)
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
CROSS JOIN (VALUES ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE')) AS r (name)
WHERE n.nspname OPERATOR(pg_catalog.=) $1
    AND c.relname OPERATOR(pg_catalog.=) $2
    AND NOT pg_catalog.has_table_privilege(c.oid, r.name)
GROUP BY n.nspname, c.relname
UNION ALL
SELECT pg_catalog.format('GRANT USAGE ON SEQUENCE %I.%I TO %I', n.nspname, s.relname, current_user)
FROM pg_catalog.pg_depend AS d
JOIN pg_catalog.pg_class AS s ON s.oid OPERATOR(pg_catalog.=) d.objid
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) d.refobjid
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
    AND d.deptype OPERATOR(pg_catalog.=) ANY ('{a,i}')
    AND n.nspname OPERATOR(pg_catalog.=) $1
    AND c.relname OPERATOR(pg_catalog.=) $2
    AND CASE WHEN s.relkind OPERATOR(pg_catalog.=) 'S' THEN NOT pg_catalog.has_sequence_privilege(s.oid, 'USAGE') END
