-- $1 remotes
WITH t AS (
    INSERT INTO task ("group", input, repeat, drift, active, remote, promise, chain)
    SELECT
        'chain ' || i,
        CASE WHEN i % 2 = 0 THEN 'SELECT leave_effect()' ELSE 'SELECT pg_sleep(0.02)' END,
        '300 ms',
        i % 3 = 0,
        '0',
        ($1::text[])[1 + i % greatest(cardinality($1::text[]), 1)],
        CASE WHEN i % 2 = 0 THEN 'exactly' END,
        true
    FROM generate_series(1, 6) AS i
    RETURNING id
)
INSERT INTO planned
SELECT id FROM t
