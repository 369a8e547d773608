-- What stands for :private in the block that makes a table, relation: takes back what default
-- privileges have given to others. The lock comes first: a trigger or a foreign key that is made in
-- a transaction that is still open could not be seen. For that reason each column changes, too: it
-- fails where others give a right to it in one.
    EXECUTE pg_catalog.format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', relation);
    FOR revoke IN
        SELECT pg_catalog.format('GRANT ALL (%1$I) ON TABLE %2$s TO %3$I; REVOKE ALL (%1$I) ON TABLE %2$s FROM %3$I', a.attname, relation, o.rolname)
        FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_roles AS o ON o.oid OPERATOR(pg_catalog.=) c.relowner
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) c.oid AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped
        WHERE c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(relation)::pg_catalog.oid
    LOOP
        EXECUTE revoke;
    END LOOP;
    :revoked
