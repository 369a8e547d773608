-- The sequence by which changes of the table of groups are known, and whether the role may read it.
-- Only the table's owner can make it that.
-- $1 number of the table
SELECT s.oid::pg_catalog.int8, pg_catalog.quote_ident(n.nspname), pg_catalog.quote_ident(s.relname), pg_catalog.has_sequence_privilege(s.oid, 'SELECT')
FROM pg_catalog.pg_depend AS d
JOIN pg_catalog.pg_class AS s ON s.oid OPERATOR(pg_catalog.=) d.objid AND s.relkind OPERATOR(pg_catalog.=) 'S'
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) s.relnamespace
WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid
    AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid
    AND d.refobjid OPERATOR(pg_catalog.=) $1::pg_catalog.oid
    AND d.deptype OPERATOR(pg_catalog.=) 'a'
ORDER BY s.oid
LIMIT 1;
