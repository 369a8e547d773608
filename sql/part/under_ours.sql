-- Nothing is read of a table whose tasks have come to run under the roles that insert them: whoever
-- runs them all under one has not noticed yet.
WHERE NOT EXISTS (
    SELECT
    FROM pg_trigger AS g
    WHERE g.tgrelid = :table_number::oid AND g.tgname = 'pgtaskd_role'
)
