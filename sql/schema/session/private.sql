-- What stands for :private in the block that makes a new table, relation: takes back what default
-- privileges have given to others, of its sequences as well.
    FOR revoke IN
        SELECT pg_catalog.format('REVOKE ALL ON TABLE %s FROM %s CASCADE', c.oid::pg_catalog.regclass, CASE WHEN r.oid IS NULL THEN 'PUBLIC' ELSE pg_catalog.quote_ident(r.rolname) END)
        FROM pg_catalog.pg_class AS c
        CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS g
        LEFT JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) g.grantee
        WHERE (c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(relation)::pg_catalog.oid
                OR c.oid OPERATOR(pg_catalog.=) ANY (
                    SELECT d.objid
                    FROM pg_catalog.pg_depend AS d
                    WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid
                        AND d.refclassid OPERATOR(pg_catalog.=) d.classid
                        AND d.refobjid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(relation)::pg_catalog.oid
                        AND d.deptype OPERATOR(pg_catalog.=) 'a'::pg_catalog."char"
                ) AND c.relkind OPERATOR(pg_catalog.=) 'S'::pg_catalog."char")
            AND g.grantee OPERATOR(pg_catalog.<>) c.relowner
        GROUP BY c.oid, r.oid, r.rolname
    LOOP
        EXECUTE revoke;
    END LOOP;
