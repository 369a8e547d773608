-- The first of the tasks planned for later.
INSERT INTO task (input, plan)
VALUES ('SELECT 1', statement_timestamp() + interval '1 day')
RETURNING id
