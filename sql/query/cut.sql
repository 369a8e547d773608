-- Ends tasks whose run was cut off, or whose end nobody could write. They become PLAN if nothing
-- was committed, or if they may run twice, unless another task waits with the key; STOP if somebody
-- set them to it; else FAIL.
-- A task whose backend lives is not touched. Process id, database and start identify a backend,
-- since in a restored copy of the table the ids are those of another database's backends. Our own
-- sessions run none of these tasks; rows of a partition that was detached when their ends were
-- written may still name one.
-- A row that was not marked is still as it was read. TAKE is pg_task's. A prepared row is judged
-- only by the server's record of its transaction: committed is DONE; in progress waits; if the
-- server does not know, the task FAILs and is not tried again.
-- A task that ran when the server crashed (recovery resets the statistics) is suspect: from the
-- second crash on it waits for 1 s, 2 s, 4 s …; after the fifth it FAILs. A task that has lost its
-- session on a remote, which may have crashed, is treated in the same way; on the target's own
-- server it only waits.
-- $1 ids, $2 pids of sessions known to be gone (one for each id; 0: look), $3 starts of runs known
-- to have begun (or null), $4 versions of rows that were read, $5 ids of tasks that have made us
-- panic, $6 whether to write no texts, $7 our sessions, $8 this server and database, as in xact_at,
-- $9 transactions on remotes, $10 how they have ended (committed, aborted, or unknown), $11 why that
-- is unknown
WITH orphaned AS MATERIALIZED (
    SELECT
        t.part,
        t.place,
        t.id,
        t.key,
        t.state <> 'WORK' OR t.rerun AS repeatable,
        t.prepared,
        t.status,
        t.state = 'STOP' OR t.prepared AND t.status = 'aborted' AND t.stopping IS TRUE AS stops,
        CASE WHEN t.prepared THEN (t.status = 'aborted') IS TRUE ELSE t.state <> 'STOP' END AS cut,
        l.id = ANY ($5::int8[]) AS panicked,
        c.cause,
        coalesce(t.start, l.start) AS began,
        CASE WHEN l.gone > 0 THEN l.gone ELSE t.pid END AS pid,
        t.attempt,
        t.remote <> '' AS away,
        l.reason,
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
            unnest($4::int4[]),
            unnest($9::int8[]),
            unnest($10::text[]),
            unnest($11::text[])
        ) AS u (id, gone, start, version, xact, status, reason)
        ORDER BY u.id
    ) AS l
    CROSS JOIN LATERAL (
        SELECT t.tableoid AS part, t.ctid AS place, t.id, t.key, t.state, t.remote, t.rerun, t.runs, t.start, t.pid, t.stopping,
            t.xact IS NOT NULL AS prepared, s.status, :attempt AS attempt
        FROM :table AS t
        CROSS JOIN (SELECT $8::text AS here) AS x
        CROSS JOIN LATERAL (SELECT CASE
            WHEN NOT :away THEN :xact_status
            WHEN t.xact = l.xact THEN l.status
            ELSE 'in progress'
        END AS status) AS s
        WHERE t.id BETWEEN l.id AND l.id
            AND ((t.state = 'WORK' AND t.xact IS NULL OR t.state = 'STOP' AND t.stopping AND t.stop IS NULL) AND (
                t.pid = l.gone
                OR t.remote <> ''
                OR NOT (
                    SELECT b.there
                    FROM (
                        SELECT current_setting('role') AS role, EXISTS (
                            SELECT
                            FROM pg_stat_get_activity(CASE WHEN :unmasked THEN t.pid END) AS a
                            WHERE a.pid = t.pid
                                AND a.datid = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
                                AND (a.backend_start IS NULL OR a.backend_start <= t.start)
                                AND a.pid <> ALL ($7::int4[])
                        ) AS there
                        OFFSET 0
                    ) AS b
                    WHERE set_config('role', b.role, true) <> '' -- triggers of the UPDATE run as it
                )
            )
            OR t.state = 'WORK' AND t.xact IS NOT NULL AND s.status IS DISTINCT FROM 'in progress'
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
),
judged AS MATERIALIZED (
    SELECT t.*, w.id AS rival, t.again AND w.id IS NULL AS waits
    FROM (
        SELECT o.*,
            o.cut AND NOT o.stops AND o.repeatable AND NOT o.panicked
                AND (o.times < 5 OR o.cause = 'lost' AND o.away IS NOT TRUE) AS again
        FROM orphaned AS o
    ) AS t
    LEFT JOIN LATERAL (
        :rival
    ) AS w ON true
)
UPDATE :table AS t
SET
    state = CASE
        WHEN o.status = 'committed' THEN 'DONE'
        WHEN o.stops THEN 'STOP'
        WHEN o.waits THEN 'PLAN'
        WHEN o.again THEN 'GONE'
        WHEN true THEN 'FAIL'
        ELSE t.state
    END,
    start = CASE WHEN NOT o.waits THEN coalesce(o.began, statement_timestamp()) END,
    stop = CASE WHEN NOT o.waits THEN coalesce(CASE WHEN o.prepared THEN t.stop END, statement_timestamp()) END,
    base = CASE WHEN o.waits AND o.times > 1 THEN coalesce(t.base, t.plan) ELSE t.base END,
    plan = CASE
        WHEN o.waits AND o.times > 1
            THEN statement_timestamp() + ('1 s'::interval * power(2, least(o.times, 12) - 2))
        ELSE t.plan
    END,
    attempt = o.attempt,
    output = CASE WHEN o.prepared <> o.cut THEN t.output END,
    notice = CASE WHEN o.prepared <> o.cut THEN t.notice END,
    stopping = CASE WHEN o.prepared <> o.cut AND (o.cut OR :followed) THEN t.stopping END, -- the repetition applies it
    xact = NULL,
    xact_at = NULL,
    interrupted = CASE WHEN o.cut THEN least(t.interrupted, 2147483646) + 1 ELSE t.interrupted END,
    error = CASE
        WHEN o.status = 'committed' THEN NULL
        WHEN o.waits OR $6::bool THEN t.error
        WHEN o.stops THEN E'ERROR:  canceling statement due to user request\nDETAIL:  Its state was set to STOP while it ran.'
        WHEN NOT o.cut THEN E'ERROR:  it is not known whether the task''s transaction was committed\n'
            'DETAIL:  ' || coalesce(o.reason, 'The server has no record of the transaction with which its row was prepared.') || E'\n'
            'HINT:  Look whether it has done its work; if not, set its state to PLAN.'
        WHEN o.rival IS NOT NULL THEN 'ERROR:  superseded by task ' || o.rival::text
        WHEN o.panicked THEN E'ERROR:  task was interrupted\nDETAIL:  '
            'pgtaskd met an internal error while it ran; its log has the details. It is not run again, as that would happen again.'
        WHEN NOT o.repeatable AND (o.prepared OR t.atomic) THEN E'ERROR:  task was interrupted\nDETAIL:  '
            'Its transaction was rolled back; it is not run again, as rerun is false.'
        WHEN NOT o.repeatable THEN E'ERROR:  task was interrupted\nDETAIL:  '
            'The connection was lost while it ran, and it may have had effects; it is not run again, as rerun is false.'
        WHEN o.cause = 'lost' THEN E'ERROR:  task was interrupted\nDETAIL:  '
            'The connection to its remote was lost five times while it ran.'
        ELSE E'ERROR:  task was interrupted\nDETAIL:  '
            'The server has crashed five times while it ran.'
    END,
    sqlstate = CASE
        WHEN o.status = 'committed' THEN NULL
        WHEN o.again OR $6 THEN t.sqlstate
        WHEN o.stops THEN '57014'
        WHEN NOT o.cut THEN 'TK003'
        WHEN o.panicked THEN 'XX000'
        ELSE '08006'
    END,
    runs = CASE WHEN o.cut THEN
        :earlier_runs
        || jsonb_build_object('start', o.began, 'stop', statement_timestamp(), 'pid', o.pid,
            'state', CASE WHEN t.state = 'TAKE' THEN 'TAKE' ELSE 'WORK' END, 'error', left(t.error, 1000),
            'cause', o.cause, 'atomic', t.state = 'PLAN' OR t.atomic)
    ELSE t.runs END
FROM judged AS o
WHERE t.ctid = o.place
    AND t.tableoid = o.part
RETURNING
    CASE WHEN t.state <> ALL ('{TAKE,WORK}') THEN t.id END, -- NULL: a trigger has kept it under way
    NOT o.waits AND :followed,
    :last_words
