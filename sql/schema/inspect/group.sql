-- The sequence that counts changes of the table of groups, and whether the role may read it.
-- $1 number of the table
SELECT s.oid::int8, has_sequence_privilege(s.oid, 'SELECT')
FROM pg_depend AS d
JOIN pg_class AS s ON s.oid = d.objid AND s.relkind = 'S'
WHERE d.classid = 'pg_class'::regclass::oid
    AND d.refclassid = 'pg_class'::regclass::oid
    AND d.refobjid = $1::oid
    AND d.deptype = 'a'
ORDER BY s.oid
LIMIT 1;
