-- Tasks whose run was cut off: back to PLAN where it is known that nothing was committed, or where it may be done again; else FAIL.
-- None is touched whose backend lives. One that was taken may have run for a moment on any session of its controller.
-- $1 ids, $2 pids of sessions that are known to be gone (one for each id, 0: look), $3 sessions that are ours and not concerned,
-- $4 beginning of the application_name of the target's sessions
WITH orphaned AS MATERIALIZED (
    SELECT
        t.id,
        t.state <> 'WORK' OR t.atomic IS TRUE OR t.rerun AS again
    FROM unnest($1::int8[], $2::int4[]) AS l (id, gone)
    JOIN :table AS t USING (id)
    WHERE t.state = 'WORK' AND (
            t.pid = l.gone
            OR t.remote IS NOT NULL
            OR NOT EXISTS (
                SELECT
                FROM pg_catalog.pg_stat_get_activity(t.pid) AS a
                WHERE a.pid = t.pid AND (a.backend_start IS NULL OR a.backend_start <= t.start)
            )
        )
        OR t.state = 'TAKE' AND (
            l.gone > 0
            OR NOT EXISTS (
                SELECT
                FROM pg_catalog.pg_stat_activity AS a
                WHERE a.datname = pg_catalog.current_database()
                    AND left(a.application_name, length($4)) = $4
                    AND a.state <> 'idle'
                    AND a.pid <> ALL ($3::int4[])
            )
        )
    ORDER BY t.id
    FOR NO KEY UPDATE OF t SKIP LOCKED
)
UPDATE :table AS t
SET
    state = (CASE WHEN o.again THEN 'PLAN' ELSE 'FAIL' END)::text:::state,
    start = CASE WHEN NOT o.again THEN t.start END,
    stop = CASE WHEN NOT o.again THEN statement_timestamp() END,
    interrupted = t.interrupted + 1,
    error = CASE WHEN o.again THEN t.error ELSE 'ERROR:  task was interrupted' || E'\nDETAIL:  '
        || 'The connection was lost while it ran, and it may have had effects; it is not run again, as rerun is false.' END,
    sqlstate = CASE WHEN o.again THEN t.sqlstate ELSE '08006' END,
    runs = CASE WHEN pg_catalog.jsonb_typeof(t.runs) <> 'array' THEN '[]'
            WHEN pg_catalog.jsonb_array_length(t.runs) >= 20 THEN t.runs - 0
            ELSE coalesce(t.runs, '[]') END
        || pg_catalog.jsonb_build_object('start', t.start, 'stop', statement_timestamp(), 'pid', t.pid, 'state', t.state, 'error', t.error,
            'cause', 'interrupted', 'atomic', t.atomic)
FROM orphaned AS o
WHERE t.id = o.id
RETURNING t.id, t.repeat > '0' AND NOT o.again
