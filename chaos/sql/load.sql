-- $1 number of the first task, $2 tasks, $3 waiting tasks that are enough, $4 remote
-- 20 lanes of up to three at once; in the last five of them max differs from task to task.
WITH n AS (
    SELECT
        i,
        i % 20 AS lane,
        CASE WHEN i % 20 < 15 THEN i % 20 % 3 ELSE i / 20 % 3 END AS max,
        format('SELECT pg_sleep(%s)', abs(hashint8(i)::int8) % 91 / 1000.0) AS sleep
    FROM generate_series($1::int8, $1::int8 + $2::int4 - 1) AS i
    WHERE (SELECT count(*) FROM task WHERE state = 'PLAN') < $3::int4
), t AS (
    INSERT INTO task ("group", max, input, key, active, remote, writes)
    SELECT
        'lane ' || lane,
        max,
        CASE i / 20 % 4
            WHEN 0 THEN 'SELECT leave_effect()'
            WHEN 1 THEN 'SELECT leave_effect(); ' || sleep
            WHEN 2 THEN sleep || '; SELECT leave_effect()'
            ELSE sleep
        END,
        CASE WHEN i % 9 = 0 THEN 'key ' || i / 9 % 10 END,
        '0',
        $4::text,
        i / 20 % 4 < 3
    FROM n
    ORDER BY i
    ON CONFLICT (wait_key) DO NOTHING
    RETURNING id
)
INSERT INTO planned
SELECT id FROM t
