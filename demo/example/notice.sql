-- What its SQL has to say beside its results is in the row's column notice.
INSERT INTO task ("group", input)
VALUES ('notice', $$DO 'BEGIN RAISE NOTICE ''half way''; END'$$)
RETURNING id
