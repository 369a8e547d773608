-- What stands for :ours in a block, after the statement that makes what is not there: an error where
-- anything of these names, made, belongs to somebody whom the look at the owners does not trust. They
-- may have made it after that look. What is ours nobody else can put something in the place of.
    FOR other IN
        SELECT pg_catalog.format('%s belongs to role %s and has a name that the table needs: drop or rename it', m.name, :readable(pg_catalog.quote_ident(o.rolname)))
        FROM pg_catalog.unnest(made) AS m (name)
        JOIN pg_catalog.pg_roles AS o ON o.oid OPERATOR(pg_catalog.=) CASE
            WHEN pg_catalog.right(m.name, 1) OPERATOR(pg_catalog.=) ')' THEN
                (SELECT p.proowner FROM pg_catalog.pg_proc AS p WHERE p.oid OPERATOR(pg_catalog.=) pg_catalog.to_regprocedure(m.name)::pg_catalog.oid)
            ELSE coalesce(
                (SELECT c.relowner FROM pg_catalog.pg_class AS c WHERE c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(m.name)::pg_catalog.oid),
                (SELECT t.typowner FROM pg_catalog.pg_type AS t WHERE t.oid OPERATOR(pg_catalog.=) pg_catalog.to_regtype(m.name)::pg_catalog.oid)
            )
        END
        WHERE NOT o.oid::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY (pg_catalog.current_setting('pgtaskd.trusted')::pg_catalog.int8[])
    LOOP
        RAISE EXCEPTION '%', other USING ERRCODE = 'object_not_in_prerequisite_state';
    END LOOP;
