-- What has the table's name, what the role may do with it, and whether the table of controllers,
-- the function that says why a task waits, and the table of groups can be used: they run, or show,
-- what their owner likes, so it must be one of those trusted.
-- $1 schema, $2 table, $3 table of controllers, $4 function, $5 table of groups, $6 trusted roles
SELECT
    c.relkind::pg_catalog.text,
    pg_catalog.quote_ident(current_user),
    pg_catalog.has_schema_privilege(n.oid, 'USAGE'),
    pg_catalog.has_table_privilege(c.oid, 'SELECT'),
    EXISTS (
        SELECT
        FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid OPERATOR(pg_catalog.=) c.oid AND a.attname OPERATOR(pg_catalog.=) 'state' AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'UPDATE')
    ),
    (
        SELECT pg_catalog.count(*)
        FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid OPERATOR(pg_catalog.=) c.oid AND NOT a.attisdropped AND a.attname OPERATOR(pg_catalog.=) ANY ('{due,stopping,key,notice,awaits}'::pg_catalog.name[])
    ) OPERATOR(pg_catalog.=) 5,
    EXISTS (
        SELECT
        FROM pg_catalog.pg_class AS l
        WHERE l.relnamespace OPERATOR(pg_catalog.=) n.oid
            AND l.relname OPERATOR(pg_catalog.=) $3::pg_catalog.text
            AND l.relkind OPERATOR(pg_catalog.=) 'r'
            AND l.relowner::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY ($6::pg_catalog.int8[])
            AND pg_catalog.has_table_privilege(l.oid, 'SELECT')
    ),
    EXISTS (
        SELECT
        FROM pg_catalog.pg_proc AS p
        WHERE p.pronamespace OPERATOR(pg_catalog.=) n.oid
            AND p.proname OPERATOR(pg_catalog.=) $4::pg_catalog.text
            AND p.pronargs OPERATOR(pg_catalog.=) 1
            AND p.proargtypes[0] OPERATOR(pg_catalog.=) 'pg_catalog.int8'::pg_catalog.regtype::pg_catalog.oid
            AND p.proowner::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY ($6::pg_catalog.int8[])
            AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')
    ),
    EXISTS (
        SELECT
        FROM pg_catalog.pg_class AS l
        WHERE l.relnamespace OPERATOR(pg_catalog.=) n.oid
            AND l.relname OPERATOR(pg_catalog.=) $5::pg_catalog.text
            AND l.relkind OPERATOR(pg_catalog.=) 'r'
            AND l.relowner::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY ($6::pg_catalog.int8[])
    )
FROM pg_catalog.pg_namespace AS n
JOIN pg_catalog.pg_class AS c ON c.relnamespace OPERATOR(pg_catalog.=) n.oid
WHERE n.nspname OPERATOR(pg_catalog.=) $1::pg_catalog.text
    AND c.relname OPERATOR(pg_catalog.=) $2::pg_catalog.text
