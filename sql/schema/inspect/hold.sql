-- By what a role locks what it is about to change, so that nothing it does then waits for another
-- lock: who waits finds what has the name by then. Whoever may write columns alone can only read-lock.
-- $1 name, quoted
SELECT pg_catalog.concat('LOCK TABLE ', $1::pg_catalog.text, ' IN ', CASE
    WHEN EXISTS (
        SELECT
        FROM pg_catalog.pg_class AS c
        WHERE c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass($1::pg_catalog.text)::pg_catalog.oid
            AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,p}') -- what a view reads would be locked, too
            AND pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
    ) THEN 'ROW EXCLUSIVE'
    ELSE 'ACCESS SHARE'
END, ' MODE')
