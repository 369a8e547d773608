-- Notices of the SQL go into the column notice.
INSERT INTO task ("group", input)
VALUES ('notice', $$DO 'BEGIN RAISE NOTICE ''half way''; END'$$)
RETURNING id
