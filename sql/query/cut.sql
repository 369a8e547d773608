-- Tasks whose run was cut off: back to PLAN where it is known that nothing was committed, or where
-- it may be done again; else FAIL.
-- None is touched whose backend lives: process id, database and start tell it, since a restored
-- copy of the table has the ids of another database's backends. A session of ours runs none of them,
-- whatever rows show that were away with their partition when their ends were written.
-- A row that was not marked is still as it was read; TAKE is pg_task's. One that was prepared is judged
-- by the server's record of its transaction alone.
-- What ran when the server crashed (then it resets its statistics) is suspect: the second time it
-- waits for 1 s, then 2 s, 4 s; after the fifth it FAILs. So does what has lost its session: of a
-- remote nobody knows whether it has crashed. On the target's own server it only waits.
-- $1 ids, $2 pids of sessions that are known to be gone (one for each id, 0: look), $3 starts of
-- runs that are known to have begun (or null),
-- $4 versions of rows that were read, $5 ids of those that have made us panic, $6 whether to say
-- nothing, $7 sessions that are ours, $8 where we are, as xact_at says
WITH orphaned AS MATERIALIZED (
    SELECT
        t.part,
        t.place,
        t.state <> 'WORK' OR t.rerun AS repeatable,
        t.prepared AND t.stopping AS stops,
        t.prepared,
        l.id = ANY ($5::int8[]) AS panicked,
        c.cause,
        coalesce(t.start, l.start) AS began,
        CASE WHEN l.gone > 0 THEN l.gone ELSE t.pid END AS pid,
        t.attempt,
        t.remote <> '' AS away,
        CASE WHEN c.cause <> 'interrupted' THEN 1 + CASE WHEN jsonb_typeof(t.runs) = 'array' THEN (
            SELECT count(*)
            FROM jsonb_array_elements(t.runs) AS r
            WHERE (r ->> 'cause') = c.cause
        ) ELSE 0 END ELSE 0 END AS times
    FROM (
        SELECT *
        FROM ROWS FROM (
            unnest($1::int8[]),
            unnest($2::int4[]),
            unnest($3::timestamptz[]),
            unnest($4::int4[])
        ) AS u (id, gone, start, version)
        ORDER BY u.id
    ) AS l
    CROSS JOIN LATERAL (
        SELECT t.tableoid AS part, t.ctid AS place, t.state, t.remote, t.atomic, t.rerun, t.runs, t.start, t.pid, t.stopping, :xact_of_t IS NOT NULL AS prepared, :attempt AS attempt
        FROM :table AS t
        CROSS JOIN (SELECT $8::text AS here) AS x
        WHERE t.id >= l.id
            AND t.id <= l.id
            AND (t.state = 'WORK' AND :xact_of_t IS NULL AND (
                t.pid = l.gone
                OR t.remote <> ''
                OR NOT EXISTS (
                    SELECT
                    FROM pg_stat_get_activity(t.pid) AS a
                    WHERE a.pid = t.pid
                        AND a.datid = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
                        AND (a.backend_start IS NULL OR a.backend_start <= t.start)
                        AND a.pid <> ALL ($7::int4[])
                )
            )
            OR t.state = 'WORK' AND :xact_status = 'aborted'
            OR t.state = 'PLAN' AND l.gone > 0 AND t.xmin = l.version
            OR t.state = 'TAKE' AND NOT EXISTS (SELECT FROM pg_stat_get_activity(t.pid) AS a WHERE a.pid = t.pid))
        ORDER BY t.id
        FOR NO KEY UPDATE OF t SKIP LOCKED
    ) AS t
    CROSS JOIN LATERAL (
        SELECT CASE
            WHEN :crashed > coalesce(l.start, t.start) THEN 'crash'
            WHEN l.gone > 0 THEN 'lost'
            ELSE 'interrupted'
        END AS cause
    ) AS c
)
UPDATE :table AS t
SET
    state = CASE WHEN d.again THEN 'PLAN' WHEN o.stops THEN 'STOP' WHEN true THEN 'FAIL' ELSE t.state END,
    start = CASE WHEN NOT d.again THEN coalesce(o.began, statement_timestamp()) END,
    stop = CASE WHEN NOT d.again THEN statement_timestamp() END,
    base = CASE WHEN d.again AND o.times > 1 THEN coalesce(t.base, t.plan) ELSE t.base END,
    plan = CASE
        WHEN d.again AND o.times > 1
            THEN statement_timestamp() + ('1 s'::interval * power(2, least(o.times, 12) - 2))
        ELSE t.plan
    END,
    attempt = o.attempt,
    output = CASE WHEN NOT o.prepared THEN t.output END,
    notice = CASE WHEN NOT o.prepared THEN t.notice END,
    stopping = CASE WHEN NOT o.prepared THEN t.stopping END,
    :without_xact
    interrupted = least(t.interrupted, 2147483646) + 1,
    error = CASE
        WHEN d.again OR $6::bool THEN t.error
        WHEN o.stops THEN E'ERROR:  canceling statement due to user request\nDETAIL:  Its state was set to STOP while it ran.'
        WHEN o.panicked THEN E'ERROR:  task was interrupted\nDETAIL:  '
            'pgtaskd met an internal error while it ran; its log has the details. It is not run again, as that would happen again.'
        WHEN NOT o.repeatable AND o.prepared THEN E'ERROR:  task was interrupted\nDETAIL:  '
            'Its transaction was rolled back; it is not run again, as rerun is false.'
        WHEN NOT o.repeatable THEN E'ERROR:  task was interrupted\nDETAIL:  '
            'The connection was lost while it ran, and it may have had effects; it is not run again, as rerun is false.'
        WHEN o.cause = 'lost' THEN E'ERROR:  task was interrupted\nDETAIL:  '
            'The connection to its remote was lost five times while it ran.'
        ELSE E'ERROR:  task was interrupted\nDETAIL:  '
            'The server has crashed five times while it ran.'
    END,
    sqlstate = CASE WHEN d.again OR $6 THEN t.sqlstate WHEN o.stops THEN '57014' WHEN o.panicked THEN 'XX000' ELSE '08006' END,
    runs = :earlier_runs
        || jsonb_build_object('start', o.began, 'stop', statement_timestamp(), 'pid', o.pid,
            'state', CASE WHEN t.state = 'TAKE' THEN 'TAKE' ELSE 'WORK' END, 'error', left(t.error, 1000),
            'cause', o.cause, 'atomic', t.state = 'PLAN' OR t.atomic)
FROM orphaned AS o
CROSS JOIN LATERAL (
    SELECT o.repeatable AND NOT o.panicked AND o.stops IS NOT TRUE AND (o.times < 5 OR o.cause = 'lost' AND o.away IS NOT TRUE) AS again
) AS d
WHERE t.ctid = o.place
    AND t.tableoid = o.part
RETURNING
    CASE WHEN t.state <> ALL ('{TAKE,WORK}') THEN t.id END, -- NULL: a trigger has kept it under way
    :followed AND NOT d.again,
    :last_words
