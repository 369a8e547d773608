-- The first of the tasks that have ended.
INSERT INTO task (input, state, start, stop, pid, attempt, atomic, output)
VALUES ('SELECT 1', 'DONE', statement_timestamp(), statement_timestamp(), 1, 1, true, '1')
RETURNING id
