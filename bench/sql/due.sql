-- The first of the tasks that are due.
INSERT INTO task (input)
VALUES ('SELECT 1')
RETURNING id
