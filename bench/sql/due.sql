-- The first of the due tasks.
INSERT INTO task (input)
VALUES ('SELECT 1')
RETURNING id
