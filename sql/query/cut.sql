-- Tasks whose run was cut off: back to PLAN where it is known that nothing was committed, or where it may be done again; else FAIL.
-- None is touched whose backend lives. One that was taken may have run for a moment on any session of its controller.
-- What ran when the server crashed (then it resets its statistics) is suspect: the second time it waits for 1 s, then 2 s, 4 s; after the
-- fifth it FAILs.
-- $1 ids, $2 pids of sessions that are known to be gone (one for each id, 0: look), $3 starts of runs that are known to have begun (or null),
-- $4 sessions that are ours and not concerned, $5 beginning of the application_name of the target's sessions
WITH orphaned AS MATERIALIZED (
    SELECT
        t.id,
        t.state <> 'WORK' OR t.atomic IS TRUE OR t.rerun AS repeatable,
        c.crashed,
        c.crashed::int4 + CASE WHEN pg_catalog.jsonb_typeof(t.runs) = 'array' THEN (
            SELECT count(*)
            FROM pg_catalog.jsonb_array_elements(t.runs) AS r
            WHERE r ->> 'cause' = 'crash'
        ) ELSE 0 END AS crashes
    FROM unnest($1::int8[], $2::int4[], $3::timestamptz[]) AS l (id, gone, start)
    JOIN :table AS t USING (id)
    CROSS JOIN LATERAL (
        SELECT coalesce(least( -- a person may have reset one of them
            (SELECT b.stats_reset FROM pg_catalog.pg_stat_bgwriter AS b),
            (SELECT a.stats_reset FROM pg_catalog.pg_stat_archiver AS a)
        ) > coalesce(l.start, t.start), false) AS crashed
    ) AS c
    WHERE t.state = 'WORK' AND (
            t.pid = l.gone
            OR t.remote <> ''
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
                    AND left(a.application_name, length($5)) = $5
                    AND a.state <> 'idle'
                    AND a.pid <> ALL ($4::int4[])
            )
        )
    ORDER BY t.id
    FOR UPDATE OF t SKIP LOCKED
)
UPDATE :table AS t
SET
    state = (CASE WHEN d.again THEN 'PLAN' ELSE 'FAIL' END)::text:::state,
    start = CASE WHEN NOT d.again THEN coalesce(t.start, statement_timestamp()) END,
    stop = CASE WHEN NOT d.again THEN statement_timestamp() END,
    base = CASE WHEN d.again AND o.crashes > 1 THEN coalesce(t.base, t.plan) ELSE t.base END,
    plan = CASE WHEN d.again AND o.crashes > 1 THEN statement_timestamp() + interval '1 s' * power(2, o.crashes - 2) ELSE t.plan END,
    interrupted = least(t.interrupted, 2147483646) + 1,
    error = CASE
        WHEN d.again THEN t.error
        WHEN NOT o.repeatable THEN 'ERROR:  task was interrupted' || E'\nDETAIL:  '
            || 'The connection was lost while it ran, and it may have had effects; it is not run again, as rerun is false.'
        ELSE 'ERROR:  task was interrupted' || E'\nDETAIL:  ' || 'The server has crashed five times while it ran.'
    END,
    sqlstate = CASE WHEN d.again THEN t.sqlstate ELSE '08006' END,
    runs = CASE
            WHEN pg_catalog.jsonb_typeof(t.runs) <> 'array' THEN '[]'
            WHEN pg_catalog.jsonb_array_length(t.runs) >= 20 THEN t.runs - 0
            ELSE coalesce(t.runs, '[]')
        END
        || pg_catalog.jsonb_build_object('start', t.start, 'stop', statement_timestamp(), 'pid', t.pid, 'state', t.state, 'error', pg_catalog.left(t.error, 1000),
            'cause', CASE WHEN o.crashed THEN 'crash' ELSE 'interrupted' END, 'atomic', t.atomic)
FROM orphaned AS o
CROSS JOIN LATERAL (SELECT o.repeatable AND o.crashes < 5 AS again) AS d
WHERE t.id = o.id
RETURNING t.id, t.repeat > '0' AND NOT d.again
