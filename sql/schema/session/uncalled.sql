-- What stands for :uncalled in the block that makes a function, called: takes back what default
-- privileges have given to others.
    FOR other IN
        SELECT CASE WHEN r.oid IS NULL THEN 'PUBLIC' ELSE pg_catalog.quote_ident(r.rolname) END
        FROM pg_catalog.pg_proc AS p
        CROSS JOIN LATERAL pg_catalog.aclexplode(coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))) AS g
        LEFT JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) g.grantee
        WHERE p.oid OPERATOR(pg_catalog.=) pg_catalog.to_regprocedure(called)::pg_catalog.oid
            AND g.grantee OPERATOR(pg_catalog.<>) p.proowner
        GROUP BY r.oid, r.rolname
    LOOP
        EXECUTE pg_catalog.format('REVOKE ALL ON FUNCTION %s FROM %s CASCADE', called, other);
    END LOOP;
