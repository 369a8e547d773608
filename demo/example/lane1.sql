-- A lane: tasks of one group run one after the other, unless they say otherwise.
INSERT INTO task ("group", input)
SELECT 'one at a time', format($$SELECT 'letter %s' FROM pg_sleep(0.8)$$, n)
FROM generate_series(1, 4) AS n
RETURNING id
