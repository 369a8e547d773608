-- The table's relation: its kind, the rights that the role lacks, whether the columns without
-- which it cannot be read are there, all columns, the role's time zone in this database, and which
-- objects beside it may be used.
-- $1 schema, $2 table, $3 names of the objects beside it
SELECT
    c.relkind::text,
    coalesce(:denied, ''),
    (
        SELECT count(*)
        FROM pg_attribute AS a
        WHERE a.attrelid = c.oid AND NOT a.attisdropped AND a.attname = ANY ('{due,stopping,key,notice,awaits}'::name[])
    ) = 5,
    ARRAY(
        SELECT a.attname::text
        FROM pg_attribute AS a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    ),
    current_setting('TimeZone'),
    ARRAY(
        SELECT l.relname::text
        FROM pg_class AS l
        WHERE l.relnamespace = n.oid
            AND l.relname = ANY ($3::name[])
            AND l.relkind = ANY ('{r,v}'::"char"[])
            AND has_table_privilege(l.oid, 'SELECT')
        UNION ALL
        SELECT p.proname::text
        FROM pg_proc AS p
        WHERE p.pronamespace = n.oid
            AND p.proname = ANY ($3::name[])
            AND p.pronargs = 1
            AND p.proargtypes[0] = 'int8'::regtype::oid
            AND has_function_privilege(p.oid, 'EXECUTE')
    )
FROM pg_namespace AS n
JOIN pg_class AS c ON c.relnamespace = n.oid
WHERE n.nspname = $1::text
    AND c.relname = $2::text
