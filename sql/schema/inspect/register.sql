-- What has the name of the register: whether it is one, which of the rights to it the role lacks,
-- whether the role may make it where there is none; whether its comment says that no dump has brought it; and the role.
-- $1 schema, $2 table, $3 name, $4 rights, $5 how the comments end of what was made on this server
SELECT
    coalesce(c.oid::pg_catalog.int8, 0),
    coalesce(c.relkind OPERATOR(pg_catalog.=) 'r', false) AND (
        SELECT pg_catalog.count(*)
        FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid OPERATOR(pg_catalog.=) c.oid
            AND (
                a.attname OPERATOR(pg_catalog.=) 'pid' AND a.atttypid OPERATOR(pg_catalog.=) 'pg_catalog.int4'::pg_catalog.regtype::pg_catalog.oid
                OR a.attname OPERATOR(pg_catalog.=) 'started' AND a.atttypid OPERATOR(pg_catalog.=) 'pg_catalog.timestamptz'::pg_catalog.regtype::pg_catalog.oid
            )
    ) OPERATOR(pg_catalog.=) 2,
    ARRAY(
        SELECT r.name
        FROM pg_catalog.unnest($4::pg_catalog.text[]) AS r (name)
        WHERE NOT pg_catalog.has_table_privilege(c.oid, r.name)
    ),
    pg_catalog.has_schema_privilege(n.oid, 'CREATE') AND EXISTS (
        SELECT
        FROM pg_catalog.pg_class AS t
        WHERE t.relnamespace OPERATOR(pg_catalog.=) n.oid
            AND t.relname OPERATOR(pg_catalog.=) $2
            AND pg_catalog.pg_has_role(t.relowner, 'USAGE')
    ),
    EXISTS ( -- as in part/sealed.sql
        SELECT
        FROM pg_catalog.pg_description AS d
        WHERE d.objoid OPERATOR(pg_catalog.=) c.oid
            AND d.classoid OPERATOR(pg_catalog.=) c.tableoid
            AND d.objsubid OPERATOR(pg_catalog.=) 0
            AND d.description OPERATOR(pg_catalog.~) pg_catalog.concat($5::pg_catalog.text, c.oid, '$')
    ),
    pg_catalog.quote_ident(current_user)
FROM pg_catalog.pg_namespace AS n
LEFT JOIN pg_catalog.pg_class AS c ON c.relnamespace OPERATOR(pg_catalog.=) n.oid AND c.relname OPERATOR(pg_catalog.=) $3
WHERE n.nspname OPERATOR(pg_catalog.=) $1;
