-- Writes the ends of tasks whose own transaction is over. Each must still be as its owner left it. A failure goes back to PLAN
-- while it has retries left, with a delay that doubles.
-- $1 ids, $2 pids of the controllers that took them, $3 pids of the sessions, $4 done, $5 starts, $6 stops, $7 outputs, $8 errors,
-- $9 SQLSTATEs, $10 notices, $11 whether effects and end commit together
WITH ended AS (
    SELECT *
    FROM unnest($1::int8[], $2::int4[], $3::int4[], $4::bool[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::text[],
        $9::text[], $10::text[], $11::bool[])
        AS e (id, owner, pid, done, start, stop, output, error, sqlstate, notice, atomic)
),
locked AS MATERIALIZED (
    SELECT
        t.id,
        NOT e.done AND t.attempt - t.interrupted <= t.retry AS again
    FROM :table AS t
    JOIN ended AS e ON e.id = t.id
    WHERE t.state = 'TAKE' AND t.pid = e.owner OR t.state = 'WORK' AND t.pid = e.pid
    ORDER BY t.id
    FOR NO KEY UPDATE OF t SKIP LOCKED
)
UPDATE :table AS t
SET
    state = (CASE WHEN e.done THEN 'DONE' WHEN locked.again THEN 'PLAN' ELSE 'FAIL' END)::text:::state,
    start = CASE WHEN NOT locked.again THEN e.start END,
    stop = CASE WHEN NOT locked.again THEN e.stop END,
    pid = e.pid,
    output = e.output,
    error = e.error,
    sqlstate = e.sqlstate,
    notice = e.notice,
    atomic = e.atomic,
    base = CASE WHEN locked.again THEN coalesce(t.base, t.plan) ELSE t.base END,
    plan = CASE WHEN locked.again
        THEN e.stop + least(least(t.backoff, '1 day') * power(2, least(greatest(t.attempt - t.interrupted - 1, 0), 20)), '1 day') * (0.9 + 0.2 * random())
        ELSE t.plan END,
    runs = CASE WHEN NOT locked.again THEN t.runs ELSE
        CASE WHEN pg_catalog.jsonb_typeof(t.runs) <> 'array' THEN '[]'
            WHEN pg_catalog.jsonb_array_length(t.runs) >= 20 THEN t.runs - 0
            ELSE coalesce(t.runs, '[]') END
        || pg_catalog.jsonb_build_object('start', e.start, 'stop', e.stop, 'pid', e.pid, 'state', 'FAIL', 'error', e.error, 'cause', 'retry')
    END
FROM ended AS e
JOIN locked USING (id)
WHERE t.id = e.id
RETURNING
    t.id,
    locked.again,
    t.repeat > '0' AND NOT locked.again,
    t."delete" AND t.output IS NULL AND t.error IS NULL
