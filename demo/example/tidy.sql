-- A task deletes old rows of the table.
INSERT INTO task ("group", repeat, input)
VALUES ('tidy up', '10 s', $$DELETE FROM public.task WHERE stop < now() - interval '1 min'$$)
RETURNING id
