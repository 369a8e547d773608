-- Reads nothing if the table's tasks run under the roles that insert them by now. A leader that
-- runs all tasks under one role may not have noticed this yet.
WHERE NOT EXISTS (
    SELECT
    FROM pg_trigger AS g
    WHERE g.tgrelid = :table_number::oid AND g.tgname = 'pgtaskd_role'
)
