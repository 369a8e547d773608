-- The sequences that belong to columns of the table.
-- $1 schema, $2 table
SELECT pg_catalog.format('%I.%I', m.nspname, s.relname)
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
JOIN pg_catalog.pg_depend AS d ON d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid OPERATOR(pg_catalog.=) c.oid
JOIN pg_catalog.pg_class AS s ON s.oid OPERATOR(pg_catalog.=) d.objid
JOIN pg_catalog.pg_namespace AS m ON m.oid OPERATOR(pg_catalog.=) s.relnamespace
WHERE n.nspname OPERATOR(pg_catalog.=) $1
    AND c.relname OPERATOR(pg_catalog.=) $2
    AND d.deptype OPERATOR(pg_catalog.=) ANY ('{a,i}')
    AND s.relkind OPERATOR(pg_catalog.=) 'S'
    AND s.relowner OPERATOR(pg_catalog.=) c.relowner
