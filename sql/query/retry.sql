-- Returns failed tasks to PLAN that have retries left, with a delay that doubles. Each must still be as its owner left it.
-- $1 ids, $2 pids of the controllers that took them, $3 pids of the sessions, $4 starts, $5 stops, $6 outputs, $7 errors, $8 SQLSTATEs,
-- $9 notices, $10 whether effects and end commit together
WITH ended AS MATERIALIZED (
    SELECT e.*
    FROM (
        SELECT *
        FROM unnest($1::int8[], $2::int4[], $3::int4[], $4::timestamptz[], $5::timestamptz[], $6::text[], $7::text[], $8::text[], $9::text[],
            $10::bool[]) AS u (id, owner, pid, start, stop, output, error, sqlstate, notice, atomic)
        ORDER BY u.id
    ) AS e
    CROSS JOIN LATERAL ( -- looked up one by one, whatever the statistics say
        SELECT
        FROM :table AS t
        WHERE t.id = e.id
            AND (t.state = 'TAKE' AND t.pid = e.owner OR t.state = 'WORK' AND t.pid = e.pid)
            AND t.attempt::int8 - t.interrupted <= t.retry
        FOR UPDATE SKIP LOCKED
    ) AS t
)
UPDATE :table AS t
SET
    state = 'PLAN',
    start = NULL,
    stop = NULL,
    pid = e.pid,
    output = e.output,
    error = e.error,
    sqlstate = e.sqlstate,
    notice = e.notice,
    atomic = e.atomic,
    base = coalesce(t.base, t.plan),
    plan = e.stop + (0.9 + 0.2 * random())
        * least(least(t.backoff, '1 day') * power(2, least(greatest(t.attempt::int8 - t.interrupted - 1, 0), 20)), '1 day'),
    runs = CASE
            WHEN pg_catalog.jsonb_typeof(t.runs) <> 'array' THEN '[]'
            WHEN pg_catalog.jsonb_array_length(t.runs) >= 20 THEN t.runs - 0
            ELSE coalesce(t.runs, '[]')
        END
        || pg_catalog.jsonb_build_object('start', e.start, 'stop', e.stop, 'pid', e.pid, 'state', 'FAIL', 'error', pg_catalog.left(e.error, 1000), 'cause', 'retry')
FROM ended AS e
WHERE t.id = e.id
RETURNING t.id
