-- What stands for :unwatched in the block that makes a table, relation: drops triggers that others
-- have made while they had the right to, and foreign keys of theirs that refer to it, whose checks
-- run as its owner.
    FOR revoke IN
        SELECT pg_catalog.format('DROP TRIGGER %I ON %s', g.tgname, g.tgrelid::pg_catalog.regclass)
        FROM pg_catalog.pg_trigger AS g
        WHERE g.tgrelid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(relation)::pg_catalog.oid
            AND NOT g.tgisinternal
        UNION ALL
        SELECT pg_catalog.format('ALTER TABLE %s DROP CONSTRAINT %I', f.conrelid::pg_catalog.regclass, f.conname)
        FROM pg_catalog.pg_constraint AS f
        JOIN pg_catalog.pg_class AS t ON t.oid OPERATOR(pg_catalog.=) f.conrelid
        WHERE f.confrelid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(relation)::pg_catalog.oid
            AND f.contype OPERATOR(pg_catalog.=) 'f'::pg_catalog."char" AND pg_catalog.pg_has_role(t.relowner, 'USAGE')
            AND f.conparentid OPERATOR(pg_catalog.=) 0::pg_catalog.oid
    LOOP
        EXECUTE revoke;
    END LOOP;
    -- Those of tables of others go with the key, which nothing else may depend on.
    FOR revoke IN
        SELECT pg_catalog.format(CASE WHEN EXISTS (
                SELECT
                FROM pg_catalog.pg_depend AS d
                WHERE d.refclassid OPERATOR(pg_catalog.=) k.tableoid AND d.refobjid OPERATOR(pg_catalog.=) k.oid
                    AND d.classid OPERATOR(pg_catalog.<>) k.tableoid AND d.deptype OPERATOR(pg_catalog.=) 'n'::pg_catalog."char"
            ) THEN 'ALTER TABLE %1$s DROP CONSTRAINT %2$I' ELSE 'ALTER TABLE %1$s DROP CONSTRAINT %2$I CASCADE, ADD CONSTRAINT %2$I %3$s' END,
            k.conrelid::pg_catalog.regclass, k.conname, pg_catalog.pg_get_constraintdef(k.oid))
        FROM pg_catalog.pg_constraint AS k
        WHERE k.conrelid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(relation)::pg_catalog.oid
            AND k.contype OPERATOR(pg_catalog.=) ANY ('{p,u}'::pg_catalog."char"[])
            AND EXISTS (
                SELECT
                FROM pg_catalog.pg_constraint AS f
                WHERE f.confrelid OPERATOR(pg_catalog.=) k.conrelid AND f.conindid OPERATOR(pg_catalog.=) k.conindid
                    AND f.contype OPERATOR(pg_catalog.=) 'f'::pg_catalog."char"
            )
    LOOP
        EXECUTE revoke;
    END LOOP;
