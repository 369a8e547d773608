-- Would run for an hour if another task did not stop it.
WITH long AS (
    INSERT INTO task ("group", input)
    VALUES ('stopped', 'SELECT pg_sleep(3600)')
    RETURNING id
), stop AS (
    INSERT INTO task ("group", max, plan, input)
    SELECT 'stopped', 1, now() + '5 s', format($$UPDATE public.task SET state = 'STOP' WHERE id = %s$$, id)
    FROM long
    RETURNING id
)
SELECT id FROM long
UNION ALL
SELECT id FROM stop
