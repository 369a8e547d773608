-- The first change of a task.
-- $1 the last id before the tasks
UPDATE task SET
    state = 'TAKE',
    pid = pg_backend_pid(), -- as a control session writes its own
    attempt = 1
WHERE id > $1
