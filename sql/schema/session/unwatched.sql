-- What stands for :unwatched in the block that makes a table, relation, to which the serving role
-- writes: drops triggers that others have made while they had the right to, which would run as it.
    FOR revoke IN
        SELECT pg_catalog.format('DROP TRIGGER %I ON %s', g.tgname, g.tgrelid::pg_catalog.regclass)
        FROM pg_catalog.pg_trigger AS g
        WHERE g.tgrelid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(relation)::pg_catalog.oid
            AND NOT g.tgisinternal
            AND g.tgname OPERATOR(pg_catalog.<>) 'pgtaskd_token'
    LOOP
        EXECUTE revoke;
    END LOOP;
