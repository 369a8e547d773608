-- Output as comma-separated values.
INSERT INTO task ("group", delimiter, quote, escape, "null", input)
VALUES ('csv', ',', '"', '"', '', $$SELECT * FROM (VALUES (1, 'a "word"'), (2, NULL)) AS v (id, note)$$)
RETURNING id
