-- What stands for :private in the block that makes a new table, relation: takes back what default
-- privileges have given to others.
    FOR other IN
        SELECT CASE WHEN r.oid IS NULL THEN 'PUBLIC' ELSE pg_catalog.quote_ident(r.rolname) END
        FROM pg_catalog.pg_class AS c
        CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS g
        LEFT JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) g.grantee
        WHERE c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(relation)::pg_catalog.oid
            AND g.grantee OPERATOR(pg_catalog.<>) c.relowner
        GROUP BY r.oid, r.rolname
    LOOP
        EXECUTE pg_catalog.format('REVOKE ALL ON TABLE %s FROM %s', relation, other);
    END LOOP;
