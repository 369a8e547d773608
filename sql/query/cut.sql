-- Tasks whose run was cut off: back to PLAN where it is known that nothing was committed, or where
-- it may be done again; else FAIL.
-- None is touched whose backend lives: process id, database and start tell it, since a restored
-- copy of the table has the ids of another database's backends. A session of ours runs none of them,
-- whatever rows show that were away with their partition when their ends were written.
-- A row that was not marked is still as it was read; TAKE is pg_task's.
-- What ran when the server crashed (then it resets its statistics) is suspect: the second time it
-- waits for 1 s, then 2 s, 4 s; after the fifth it FAILs. So does what has lost its session: of a
-- remote nobody knows whether it has crashed. On the target's own server it only waits.
-- $1 ids, $2 pids of sessions that are known to be gone (one for each id, 0: look), $3 starts of
-- runs that are known to have begun (or null),
-- $4 versions of rows that were read, $5 ids of those that have made us panic, $6 whether to say
-- nothing, $7 sessions that are ours
WITH orphaned AS MATERIALIZED (
    SELECT
        t.part,
        t.place,
        t.state OPERATOR(pg_catalog.<>) 'WORK' OR t.atomic IS TRUE OR t.rerun AS repeatable,
        l.id OPERATOR(pg_catalog.=) ANY ($5::pg_catalog.int8[]) AS panicked,
        c.cause,
        coalesce(t.start, l.start) AS began,
        CASE WHEN l.gone OPERATOR(pg_catalog.>) 0 THEN l.gone ELSE t.pid END AS pid,
        t.attempt,
        t.remote OPERATOR(pg_catalog.<>) '' AS away,
        CASE WHEN c.cause OPERATOR(pg_catalog.<>) 'interrupted' THEN 1 OPERATOR(pg_catalog.+) CASE WHEN pg_catalog.jsonb_typeof(t.runs) OPERATOR(pg_catalog.=) 'array' THEN (
            SELECT pg_catalog.count(*)
            FROM pg_catalog.jsonb_array_elements(t.runs) AS r
            WHERE (r OPERATOR(pg_catalog.->>) 'cause') OPERATOR(pg_catalog.=) c.cause
        ) ELSE 0 END ELSE 0 END AS times
    FROM (
        SELECT *
        FROM ROWS FROM (
            pg_catalog.unnest($1::pg_catalog.int8[]),
            pg_catalog.unnest($2::pg_catalog.int4[]),
            pg_catalog.unnest($3::pg_catalog.timestamptz[]),
            pg_catalog.unnest($4::pg_catalog.int4[])
        ) AS u (id, gone, start, version)
        ORDER BY u.id
    ) AS l
    CROSS JOIN LATERAL (
        SELECT t.tableoid AS part, t.ctid AS place, t.state, t.remote, t.atomic, t.rerun, t.runs, t.start, t.pid, :attempt AS attempt
        FROM :table AS t
        WHERE t.id OPERATOR(pg_catalog.>=) l.id
            AND t.id OPERATOR(pg_catalog.<=) l.id
            AND (t.state OPERATOR(pg_catalog.=) 'WORK' AND (
                t.pid OPERATOR(pg_catalog.=) l.gone
                OR t.remote OPERATOR(pg_catalog.<>) ''
                OR NOT EXISTS (
                    SELECT
                    FROM pg_catalog.pg_stat_get_activity(t.pid) AS a
                    WHERE a.pid OPERATOR(pg_catalog.=) t.pid
                        AND a.datid OPERATOR(pg_catalog.=) (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())
                        AND (a.backend_start IS NULL OR a.backend_start OPERATOR(pg_catalog.<=) t.start)
                        AND a.pid OPERATOR(pg_catalog.<>) ALL ($7::pg_catalog.int4[])
                )
            )
            OR t.state OPERATOR(pg_catalog.=) 'PLAN' AND l.gone OPERATOR(pg_catalog.>) 0 AND t.xmin OPERATOR(pg_catalog.=) l.version
            OR t.state OPERATOR(pg_catalog.=) 'TAKE' AND NOT EXISTS (SELECT FROM pg_catalog.pg_stat_get_activity(t.pid) AS a WHERE a.pid OPERATOR(pg_catalog.=) t.pid))
        ORDER BY t.id
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS t
    CROSS JOIN LATERAL (
        SELECT CASE
            WHEN :crashed OPERATOR(pg_catalog.>) coalesce(l.start, t.start) THEN 'crash'
            WHEN l.gone OPERATOR(pg_catalog.>) 0 THEN 'lost'
            ELSE 'interrupted'
        END AS cause
    ) AS c
)
UPDATE :table AS t
SET
    state = CASE WHEN d.again THEN 'PLAN' WHEN true THEN 'FAIL' ELSE t.state END,
    start = CASE WHEN NOT d.again THEN coalesce(o.began, pg_catalog.statement_timestamp()) END,
    stop = CASE WHEN NOT d.again THEN pg_catalog.statement_timestamp() END,
    base = CASE WHEN d.again AND o.times OPERATOR(pg_catalog.>) 1 THEN coalesce(t.base, t.plan) ELSE t.base END,
    plan = CASE
        WHEN d.again AND o.times OPERATOR(pg_catalog.>) 1
            THEN pg_catalog.statement_timestamp() OPERATOR(pg_catalog.+) ('1 s'::pg_catalog.interval OPERATOR(pg_catalog.*) pg_catalog.power(2, least(o.times, 12) OPERATOR(pg_catalog.-) 2))
        ELSE t.plan
    END,
    attempt = o.attempt,
    interrupted = least(t.interrupted, 2147483646) OPERATOR(pg_catalog.+) 1,
    error = CASE
        WHEN d.again OR $6::pg_catalog.bool THEN t.error
        WHEN o.panicked THEN E'ERROR:  task was interrupted\nDETAIL:  '
            'pgtaskd met an internal error while it ran; its log has the details. It is not run again, as that would happen again.'
        WHEN NOT o.repeatable THEN E'ERROR:  task was interrupted\nDETAIL:  '
            'The connection was lost while it ran, and it may have had effects; it is not run again, as rerun is false.'
        WHEN o.cause OPERATOR(pg_catalog.=) 'lost' THEN E'ERROR:  task was interrupted\nDETAIL:  '
            'The connection to its remote was lost five times while it ran.'
        ELSE E'ERROR:  task was interrupted\nDETAIL:  '
            'The server has crashed five times while it ran.'
    END,
    sqlstate = CASE WHEN d.again OR $6 THEN t.sqlstate WHEN o.panicked THEN 'XX000' ELSE '08006' END,
    runs = :earlier_runs
        OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_object('start', o.began, 'stop', pg_catalog.statement_timestamp(), 'pid', o.pid,
            'state', CASE WHEN t.state OPERATOR(pg_catalog.=) 'TAKE' THEN 'TAKE' ELSE 'WORK' END, 'error', pg_catalog.left(t.error, 1000),
            'cause', o.cause, 'atomic', t.state OPERATOR(pg_catalog.=) 'PLAN' OR t.atomic)
FROM orphaned AS o
CROSS JOIN LATERAL (
    SELECT o.repeatable AND NOT o.panicked AND (o.times OPERATOR(pg_catalog.<) 5 OR o.cause OPERATOR(pg_catalog.=) 'lost' AND o.away IS NOT TRUE) AS again
) AS d
WHERE t.ctid OPERATOR(pg_catalog.=) o.place
    AND t.tableoid OPERATOR(pg_catalog.=) o.part
RETURNING
    t.id OPERATOR(pg_catalog./) (t.state OPERATOR(pg_catalog.<>) ALL ('{TAKE,WORK}'))::pg_catalog.int4, -- an error where a trigger has kept it under way
    :followed AND NOT d.again,
    :last_words
