-- With max 1 a task starts while one other task of its lane runs.
INSERT INTO task ("group", max, input)
SELECT 'two at once', 1, format($$SELECT 'report %s' FROM pg_sleep(1.2)$$, n)
FROM generate_series(1, 6) AS n
RETURNING id
