-- $1 rows
INSERT INTO peer (id, state, input)
SELECT
    i,
    'PLAN',
    'INSERT INTO effect VALUES (1)'
FROM generate_series(1, $1::int4) AS i
