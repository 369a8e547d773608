-- $1 number of the first task, $2 tasks, $3 waiting tasks that are enough, $4 remotes
-- 20 lanes of up to three tasks at once; in the last five of them max differs from task to task.
-- Ten more lanes of short queries for pipelines; in the last five of these some write.
WITH n AS (
    SELECT
        i,
        i % 30 AS lane,
        CASE WHEN i % 30 < 20 THEN i / 30 % 6 WHEN i % 30 < 25 THEN 6 WHEN i / 30 % 50 > 0 THEN 7 ELSE 8 END AS kind,
        CASE WHEN i % 30 < 15 THEN i % 30 % 3 WHEN i % 30 < 20 THEN i / 30 % 3 ELSE 0 END AS max,
        format('SELECT pg_sleep(%s)', abs(hashint8(i)::int8) % 91 / 1000.0) AS sleep
    FROM generate_series($1::int8, $1::int8 + $2::int4 - 1) AS i
    WHERE (SELECT count(*) FROM task WHERE state = 'PLAN') < $3::int4
), t AS (
    INSERT INTO task ("group", max, input, rerun, key, active, remote, promise)
    SELECT
        'lane ' || lane,
        max,
        CASE kind
            WHEN 0 THEN 'SELECT leave_effect()'
            WHEN 1 THEN 'SELECT leave_effect(); ' || sleep
            WHEN 2 THEN sleep || '; SELECT leave_effect()'
            WHEN 3 THEN sleep
            WHEN 6 THEN 'SELECT ' || i
            WHEN 7 THEN 'SELECT CASE WHEN 1 = 2 THEN leave_effect() END'
            WHEN 8 THEN 'SELECT CASE WHEN 1 = 1 THEN leave_effect() END'
            ELSE 'BEGIN; SELECT leave_effect(); COMMIT; ' || sleep
        END,
        kind <> 5,
        CASE WHEN i % 9 = 0 THEN 'key ' || i / 9 % 10 END,
        '0',
        ($4::text[])[1 + lane % greatest(cardinality($4::text[]), 1)],
        CASE
            WHEN kind = 5 THEN 'most'
            WHEN kind IN (3, 6, 7) THEN NULL
            WHEN kind = 4 THEN 'least'
            ELSE 'exactly'
        END
    FROM n
    ORDER BY i
    ON CONFLICT (wait_key) WHERE wait_key IS NOT NULL DO NOTHING
    RETURNING id
)
INSERT INTO planned
SELECT id FROM t
