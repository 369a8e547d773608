-- Nothing is read of a table whose tasks have come to run under the roles that insert them: whoever
-- runs them all under one has not noticed yet.
WHERE NOT EXISTS (
    SELECT
    FROM pg_catalog.pg_trigger AS g
    WHERE g.tgrelid OPERATOR(pg_catalog.=) :table_number::pg_catalog.oid AND g.tgname OPERATOR(pg_catalog.=) 'pgtaskd_role'
)
