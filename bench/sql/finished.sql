-- The first of the ended tasks.
INSERT INTO task (input, state, start, stop, pid, attempt, atomic, output)
VALUES ('SELECT 1', 'DONE', statement_timestamp(), statement_timestamp(), 1, 1, true, '1')
RETURNING id
