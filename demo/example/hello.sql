-- Once, now.
INSERT INTO task ("group", input)
VALUES ('hello', $$SELECT 'hello, world'$$)
RETURNING id
