-- Once, at once.
INSERT INTO task ("group", input)
VALUES ('hello', $$SELECT 'hello, world'$$)
RETURNING id
