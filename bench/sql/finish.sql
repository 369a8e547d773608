-- The single update of a short task.
-- $1 the last id before the tasks
UPDATE task SET
    state = 'DONE',
    start = statement_timestamp(),
    stop = statement_timestamp(),
    output = '1',
    atomic = true
WHERE id > $1
