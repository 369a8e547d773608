-- The first change of a task.
-- $1 the last id before the tasks
UPDATE task SET
    state = 'TAKE',
    pid = 1,
    attempt = 1
WHERE id > $1
