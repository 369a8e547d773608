-- What has the name of the register: whether it is one, which of the rights to it the role lacks,
-- whether the role may make it where there is none; whether its comment says that no dump has brought it; and the role.
-- $1 schema, $2 table, $3 name, $4 rights, $5 how the comments end of what was made on this server
SELECT
    coalesce(c.oid::int8, 0),
    coalesce(c.relkind = 'r', false) AND (
        SELECT count(*)
        FROM pg_attribute AS a
        WHERE a.attrelid = c.oid
            AND (
                a.attname = 'pid' AND a.atttypid = 'int4'::regtype::oid
                OR a.attname = 'started' AND a.atttypid = 'timestamptz'::regtype::oid
            )
    ) = 2,
    ARRAY(
        SELECT r.name
        FROM unnest($4::text[]) AS r (name)
        WHERE NOT has_table_privilege(c.oid, r.name)
    ),
    has_schema_privilege(n.oid, 'CREATE') AND EXISTS (
        SELECT
        FROM pg_class AS t
        WHERE t.relnamespace = n.oid
            AND t.relname = $2
            AND pg_has_role(t.relowner, 'USAGE')
    ),
    EXISTS ( -- as in part/sealed.sql
        SELECT
        FROM pg_description AS d
        WHERE d.objoid = c.oid
            AND d.classoid = c.tableoid
            AND d.objsubid = 0
            AND d.description ~ concat($5::text, c.oid, '$')
    ),
    quote_ident(current_user)
FROM pg_namespace AS n
LEFT JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = $3
WHERE n.nspname = $1;
