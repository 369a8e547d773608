-- Nothing is read of a table whose tasks run under the roles that insert them by now: a leader that runs
-- them all under one role has not noticed yet.
WHERE NOT EXISTS (
    SELECT
    FROM pg_trigger AS g
    WHERE g.tgrelid = :table_number::oid AND g.tgname = 'pgtaskd_role'
)
