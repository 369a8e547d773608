-- By what a role locks what it is about to change, so that nothing it does then waits for another
-- lock: who waits finds what has the name by then. Whoever may write columns alone can only read-lock.
-- $1 name, quoted
SELECT concat('LOCK TABLE ', $1::text, ' IN ', CASE
    WHEN EXISTS (
        SELECT
        FROM pg_class AS c
        WHERE c.oid = to_regclass($1::text)::oid
            AND c.relkind = ANY ('{r,p}') -- what a view reads would be locked, too
            AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
    ) THEN 'ROW EXCLUSIVE'
    ELSE 'ACCESS SHARE'
END, ' MODE')
