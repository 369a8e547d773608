-- The kind of the table's relation, the rights that the role lacks, and whether these are there:
-- the columns that are read, the table of controllers, the function that explains why a task waits,
-- the table of groups.
-- $1 schema, $2 table, $3 whether the table is read, $4 whether tasks are stopped
SELECT
    c.relkind::text,
    :denied,
    (
        SELECT count(*)
        FROM pg_attribute AS a
        WHERE a.attrelid = c.oid AND NOT a.attisdropped AND a.attname = ANY ('{due,stopping,key,notice,awaits}'::name[])
    ) = 5,
    EXISTS (
        SELECT
        FROM pg_class AS l
        WHERE l.relnamespace = n.oid
            AND l.relname = :leaders_text
            AND l.relkind = 'r'
            AND has_table_privilege(l.oid, 'SELECT')
    ),
    EXISTS (
        SELECT
        FROM pg_proc AS p
        WHERE p.pronamespace = n.oid
            AND p.proname = :why_text
            AND p.pronargs = 1
            AND p.proargtypes[0] = 'int8'::regtype::oid
            AND has_function_privilege(p.oid, 'EXECUTE')
    ),
    EXISTS (
        SELECT
        FROM pg_class AS l
        WHERE l.relnamespace = n.oid
            AND l.relname = :groups_text
            AND l.relkind = 'r'
    )
FROM pg_namespace AS n
JOIN pg_class AS c ON c.relnamespace = n.oid
WHERE n.nspname = $1::text
    AND c.relname = $2::text
