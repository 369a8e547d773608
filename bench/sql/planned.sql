-- Tasks with plans 10 to 20 ms apart, the first in half a second.
-- $1 tasks
INSERT INTO task (input, plan)
SELECT
    'SELECT 1',
    statement_timestamp() + interval '500 ms' + (i * 15 + random() * 5) * interval '1 ms'
FROM generate_series(1, $1::int4) AS i
