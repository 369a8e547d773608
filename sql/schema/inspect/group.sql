-- The sequence by which changes of the table of groups are known, and whether the role may read it.
-- Only the table's owner can make it that.
-- $1 number of the table
SELECT s.oid::int8, quote_ident(n.nspname), quote_ident(s.relname), has_sequence_privilege(s.oid, 'SELECT')
FROM pg_depend AS d
JOIN pg_class AS s ON s.oid = d.objid AND s.relkind = 'S'
JOIN pg_namespace AS n ON n.oid = s.relnamespace
WHERE d.classid = 'pg_class'::regclass::oid
    AND d.refclassid = 'pg_class'::regclass::oid
    AND d.refobjid = $1::oid
    AND d.deptype = 'a'
ORDER BY s.oid
LIMIT 1;
