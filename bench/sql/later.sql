-- The first of the tasks that are planned for later.
INSERT INTO task (input, plan)
VALUES ('SELECT 1', statement_timestamp() + interval '1 day')
RETURNING id
