-- Whether the table of tokens and its functions belong to the serving role, no dump has brought the
-- table, and nobody else can write tokens, or has a right to them or a trigger there, or a function
-- that could be taken for the one that writes ends; and the text of the functions.
-- $1 schema, $2 name of the table of tokens, $3 the serving role, $4 how the comments end of what was
-- made on this server
SELECT
    EXISTS (
        SELECT
        FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_trigger AS g ON g.tgrelid OPERATOR(pg_catalog.=) c.oid
        WHERE c.relnamespace OPERATOR(pg_catalog.=) n.oid
            AND c.relname OPERATOR(pg_catalog.=) $2::pg_catalog.text
            AND c.relkind OPERATOR(pg_catalog.=) 'r'
            AND c.relowner OPERATOR(pg_catalog.=) r.oid
            AND g.tgname OPERATOR(pg_catalog.=) 'pgtaskd_token'
            AND g.tgenabled OPERATOR(pg_catalog.=) 'A'
            AND EXISTS ( -- as in part/sealed.sql
                SELECT
                FROM pg_catalog.pg_description AS d
                WHERE d.objoid OPERATOR(pg_catalog.=) c.oid
                    AND d.classoid OPERATOR(pg_catalog.=) c.tableoid
                    AND d.objsubid OPERATOR(pg_catalog.=) 0
                    AND d.description OPERATOR(pg_catalog.~) pg_catalog.concat($4::pg_catalog.text, c.oid, '$')
            )
            AND NOT EXISTS (SELECT FROM pg_catalog.aclexplode(c.relacl) AS x WHERE x.grantee OPERATOR(pg_catalog.<>) c.relowner)
            AND NOT EXISTS (
                SELECT
                FROM pg_catalog.pg_trigger AS x
                WHERE x.tgrelid OPERATOR(pg_catalog.=) c.oid AND x.oid OPERATOR(pg_catalog.<>) g.oid
            )
    ) AND pg_catalog.cardinality(f.sources) OPERATOR(pg_catalog.=) 2
    AND NOT EXISTS ( -- as in entitle.sql
        SELECT
        FROM pg_catalog.pg_proc AS p
        JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) ANY (p.proargtypes)
        WHERE p.pronamespace OPERATOR(pg_catalog.=) n.oid
            AND p.proname OPERATOR(pg_catalog.=) pg_catalog.replace($2::pg_catalog.text, '_token_', '_end_')::pg_catalog.name
            AND p.proowner OPERATOR(pg_catalog.<>) r.oid
            AND t.typnamespace OPERATOR(pg_catalog.=) n.oid
            AND t.typname OPERATOR(pg_catalog.=) pg_catalog.replace($2::pg_catalog.text, '_token_', '_call_')::pg_catalog.name
    ),
    f.sources
FROM pg_catalog.pg_namespace AS n
JOIN pg_catalog.pg_roles AS r ON r.rolname OPERATOR(pg_catalog.=) $3::pg_catalog.text
CROSS JOIN LATERAL (
    SELECT ARRAY(
        SELECT p.prosrc
        FROM pg_catalog.pg_proc AS p
        WHERE p.pronamespace OPERATOR(pg_catalog.=) n.oid
            AND p.proname OPERATOR(pg_catalog.=) ANY (ARRAY[$2::pg_catalog.text, pg_catalog.replace($2::pg_catalog.text, '_token_', '_end_')]::pg_catalog.name[])
            AND p.proowner OPERATOR(pg_catalog.=) r.oid
            AND (p.prosecdef OR p.proname OPERATOR(pg_catalog.=) $2::pg_catalog.text)
    ) AS sources
) AS f
WHERE n.nspname OPERATOR(pg_catalog.=) $1;
