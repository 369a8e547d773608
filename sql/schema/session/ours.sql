-- What stands for :ours in a block, after the statement that makes what is not there: an error where
-- anything of these names, made, belongs to somebody whom the look at the owners does not trust. They
-- may have made it after that look. What is ours nobody else can put something in the place of. What
-- is not found was there a moment ago, and is theirs. to_regclass and its like are not asked, which
-- may answer with what was there before.
    FOR other IN
        SELECT pg_catalog.format('%s belongs to role %s and has a name that the table needs: drop or rename it', m.name, coalesce(:readable(pg_catalog.quote_ident(o.rolname)), 'that has dropped it now'))
        FROM pg_catalog.unnest(made) AS m (name)
        CROSS JOIN LATERAL (SELECT pg_catalog.parse_ident(m.name, false) AS part, pg_catalog.right(m.name, 1) OPERATOR(pg_catalog.=) ')' AS is_function) AS i
        LEFT JOIN LATERAL (
            SELECT x.owner
            FROM pg_catalog.pg_namespace AS n
            CROSS JOIN LATERAL (
                SELECT p.proowner AS owner
                FROM pg_catalog.pg_proc AS p
                WHERE i.is_function
                    AND p.pronamespace OPERATOR(pg_catalog.=) n.oid
                    AND p.proname OPERATOR(pg_catalog.=) i.part[2]::pg_catalog.name
                    AND p.proargtypes OPERATOR(pg_catalog.=) CASE WHEN m.name OPERATOR(pg_catalog.~) 'int8[)]$' THEN '20' ELSE '' END::pg_catalog.oidvector
                UNION ALL
                SELECT c.relowner
                FROM pg_catalog.pg_class AS c
                WHERE NOT i.is_function
                    AND c.relnamespace OPERATOR(pg_catalog.=) n.oid
                    AND c.relname OPERATOR(pg_catalog.=) i.part[2]::pg_catalog.name
                UNION ALL
                SELECT t.typowner
                FROM pg_catalog.pg_type AS t
                WHERE NOT i.is_function
                    AND t.typnamespace OPERATOR(pg_catalog.=) n.oid
                    AND t.typname OPERATOR(pg_catalog.=) i.part[2]::pg_catalog.name
            ) AS x
            WHERE n.nspname OPERATOR(pg_catalog.=) i.part[1]::pg_catalog.name
        ) AS x ON true
        LEFT JOIN pg_catalog.pg_roles AS o ON o.oid OPERATOR(pg_catalog.=) x.owner
        WHERE (x.owner::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY (pg_catalog.current_setting('pgtaskd.trusted')::pg_catalog.int8[])) IS NOT TRUE
    LOOP
        RAISE EXCEPTION '%', other USING ERRCODE = 'object_not_in_prerequisite_state';
    END LOOP;
