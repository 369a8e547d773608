-- Takes the tasks that were chosen, but for those that have changed since, that somebody has locked, or that have become not worth
-- running. Long texts stay behind (NULL here) until the task starts; group and remote come as in scan, and
-- by themselves where those are not the same. What is taken alone starts at once, and is
-- not on the disk yet: if the server forgets it, work takes it again. By their place rows are found whatever the statistics say; one that somebody has changed a
-- moment ago is missed.
-- $1 ids, NULL: the one that is due alone, unless its lane may have to pause first or it repeats itself; $2 longest text to bring, in bytes, $3 how long before its plan a task may be taken,
-- $4 whether all texts stay behind, as one of them cannot be sent
WITH chosen AS MATERIALIZED (
    SELECT t.part, t.place
    FROM (
        SELECT u.id
        FROM pg_catalog.unnest(coalesce($1::pg_catalog.int8[], (
            SELECT CASE
                WHEN pg_catalog.count(*) OPERATOR(pg_catalog.=) 1
                    AND pg_catalog.set_config('synchronous_commit', 'off', true) OPERATOR(pg_catalog.=) 'off'
                    THEN pg_catalog.array_agg(d.id)
            END
            FROM (
                SELECT l.id
                FROM :table AS l
                WHERE l.due IS NOT NULL
                    AND l.due OPERATOR(pg_catalog.<=) pg_catalog.statement_timestamp()
                ORDER BY l.due, l.id
                LIMIT 2
            ) AS d
        ))) AS u (id)
        ORDER BY u.id
    ) AS c
    CROSS JOIN LATERAL (
        SELECT t.tableoid AS part, t.ctid AS place
        FROM :table AS t
        WHERE t.id OPERATOR(pg_catalog.>=) c.id
            AND t.id OPERATOR(pg_catalog.<=) c.id
            AND (
                $1 IS NOT NULL
                OR t.max OPERATOR(pg_catalog.>=) 0 AND t.repeat OPERATOR(pg_catalog.=) '0' AND t.cron IS NULL
            )
            AND t.state OPERATOR(pg_catalog.=) 'PLAN'
            AND t.plan OPERATOR(pg_catalog.<=) (pg_catalog.statement_timestamp() OPERATOR(pg_catalog.+) $3::pg_catalog.interval)
            AND (
                t.attempt OPERATOR(pg_catalog.>) 0
                OR t.active OPERATOR(pg_catalog.=) '0'
                OR t.max OPERATOR(pg_catalog.<) 0
                OR t.catchup OPERATOR(pg_catalog.<>) 0
                OR coalesce(t.base, t.plan) OPERATOR(pg_catalog.+) least(t.active, '10000 years') OPERATOR(pg_catalog.>=) pg_catalog.statement_timestamp()
            )
        ORDER BY t.id
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS t
)
UPDATE :table AS t
SET
    state = 'TAKE',
    pid = pg_catalog.pg_backend_pid(),
    attempt = CASE WHEN t.stop IS NULL THEN least(t.attempt, 2147483646) ELSE 0 END OPERATOR(pg_catalog.+) 1,
    interrupted = CASE WHEN t.stop IS NULL THEN t.interrupted ELSE 0 END,
    start = NULL,
    stop = NULL,
    atomic = NULL,
    runs = CASE WHEN t.stop IS NULL THEN t.runs ELSE -- an ended task that somebody has set to PLAN
        CASE
            WHEN pg_catalog.jsonb_typeof(t.runs) OPERATOR(pg_catalog.<>) 'array' THEN '[]'
            WHEN pg_catalog.jsonb_array_length(t.runs) OPERATOR(pg_catalog.>=) 20 THEN t.runs OPERATOR(pg_catalog.-) 0
            ELSE coalesce(t.runs, '[]')
        END
        OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_object('start', t.start, 'stop', t.stop, 'pid', t.pid,
            'state', CASE WHEN t.error IS NULL THEN 'DONE' ELSE 'FAIL' END, 'error', pg_catalog.left(t.error, 1000), 'cause', 'run again')
    END
FROM chosen
WHERE t.ctid OPERATOR(pg_catalog.=) chosen.place
    AND t.tableoid OPERATOR(pg_catalog.=) chosen.part
RETURNING
    t.id,
    t.state OPERATOR(pg_catalog.=) 'TAKE', -- no trigger has kept the row as it was
    :key_of_group,
    coalesce(:key_of_remote, ''),
    t.max,
    t.priority,
    t.parent,
    t.plan,
    t.attempt,
    CASE WHEN t.timeout OPERATOR(pg_catalog.<>) '0' THEN least(pg_catalog.date_part('epoch', t.timeout) OPERATOR(pg_catalog.*) 1000000, 9e18)::pg_catalog.int8 ELSE 0 END,
    CASE WHEN t.live OPERATOR(pg_catalog.<>) '0' THEN least(pg_catalog.date_part('epoch', t.live) OPERATOR(pg_catalog.*) 1000000, 9e18)::pg_catalog.int8 ELSE 0 END,
    t.count,
    t.save,
    t.drift,
    t.header,
    t.string,
    t.delimiter,
    t.escape,
    t.quote,
    CASE WHEN pg_catalog.octet_length(t."null") OPERATOR(pg_catalog.<=) 1000 AND NOT $4::pg_catalog.bool THEN t."null" END,
    t.rerun,
    t.repeat OPERATOR(pg_catalog.=) '0' AND t.cron IS NULL,
    t.interrupted OPERATOR(pg_catalog.>) 1 AND coalesce(
        pg_catalog.jsonb_array_length(pg_catalog.jsonb_path_query_array(t.runs, '$[*] ? (@.cause == "crash")')) OPERATOR(pg_catalog.>) 1,
        false
    ),
    CASE WHEN pg_catalog.octet_length(t.input) OPERATOR(pg_catalog.<=) $2 THEN t.input END,
    CASE WHEN t.data IS NULL THEN '' WHEN pg_catalog.octet_length(t.data) OPERATOR(pg_catalog.<=) $2 THEN t.data END,
    (
        SELECT coalesce(pg_catalog.sum(pg_catalog.hashtext(s::pg_catalog.text)::pg_catalog.int8), 0)::pg_catalog.int8
        FROM pg_catalog.pg_db_role_setting AS s
        WHERE s.setdatabase OPERATOR(pg_catalog.=) ANY (ARRAY[
                0::pg_catalog.oid,
                (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())
            ])
            AND s.setrole OPERATOR(pg_catalog.=) ANY (ARRAY[
                0::pg_catalog.oid,
                pg_catalog.quote_ident(current_user)::pg_catalog.regrole::pg_catalog.oid
            ])
    ),
    EXISTS (SELECT FROM pg_catalog.pg_foreign_server),
    :group_itself,
    :remote_itself
