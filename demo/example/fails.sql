-- Ends with an error, which the row keeps.
INSERT INTO task ("group", input)
VALUES ('fails', 'SELECT 1 / 0')
RETURNING id
