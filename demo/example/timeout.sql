-- Its SQL may run for one second.
INSERT INTO task ("group", timeout, input)
VALUES ('timeout 1 s', '1 s', 'SELECT pg_sleep(60)')
RETURNING id
