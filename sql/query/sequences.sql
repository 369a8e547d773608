-- The sequences that belong to columns of the table.
-- $1 schema, $2 table
SELECT format('%I.%I', m.nspname, s.relname)
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_depend AS d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid
JOIN pg_class AS s ON s.oid = d.objid
JOIN pg_namespace AS m ON m.oid = s.relnamespace
WHERE n.nspname = $1
    AND c.relname = $2
    AND d.deptype = ANY ('{a,i}')
    AND s.relkind = 'S'
    AND s.relowner = c.relowner
