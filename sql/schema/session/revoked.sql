-- What stands for :revoked in a block: takes from others what rights they have to a table, relation,
-- its columns and its sequences. It takes no lock on the table.
    FOR revoke IN
        SELECT s.sql
        FROM (
            -- With the right to give it, that which they have given goes as well, to whomever they gave it.
            SELECT 1, pg_catalog.format(CASE WHEN r.oid IS NULL THEN '' ELSE 'GRANT ALL (%1$I) ON TABLE %2$s TO %3$s WITH GRANT OPTION; ' END
                OPERATOR(pg_catalog.||) 'REVOKE ALL (%1$I) ON TABLE %2$s FROM %3$s CASCADE', a.attname, relation, CASE WHEN r.oid IS NULL THEN 'PUBLIC' ELSE pg_catalog.quote_ident(r.rolname) END)
            FROM pg_catalog.pg_class AS c
            JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) c.oid
            CROSS JOIN LATERAL pg_catalog.aclexplode(a.attacl) AS g
            CROSS JOIN LATERAL (VALUES (g.grantee), (g.grantor)) AS x (oid)
            LEFT JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) x.oid
            WHERE c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(relation)::pg_catalog.oid AND x.oid OPERATOR(pg_catalog.<>) c.relowner
            GROUP BY a.attname, r.oid, r.rolname
            UNION ALL
            SELECT 2, pg_catalog.format('REVOKE ALL ON TABLE %s FROM %s CASCADE', c.oid::pg_catalog.regclass, CASE WHEN r.oid IS NULL THEN 'PUBLIC' ELSE pg_catalog.quote_ident(r.rolname) END)
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
        ) AS s (step, sql)
        ORDER BY s.step
    LOOP
        EXECUTE revoke;
    END LOOP;
