-- Returns failed tasks to PLAN that have retries left, with a delay that doubles, or that the task
-- has asked for. Each must still be as it was read, or as its mark left it.
-- $1 ids, $2 versions of the rows that were read, $3 pids of the sessions, $4 starts, $5 stops, $6
-- outputs, $7 errors, $8 SQLSTATEs,
-- $9 notices, $10 whether effects and end commit together, $11 whether what is NULL here stays as
-- it is, $12 delays that tasks have asked for
WITH ended AS MATERIALIZED (
    SELECT e.*, t.part, t.place, t.attempt
    FROM (
        SELECT *
        FROM ROWS FROM (
            pg_catalog.unnest($1::pg_catalog.int8[]),
            pg_catalog.unnest($2::pg_catalog.int4[]),
            pg_catalog.unnest($3::pg_catalog.int4[]),
            pg_catalog.unnest($4::pg_catalog.timestamptz[]),
            pg_catalog.unnest($5::pg_catalog.timestamptz[]),
            pg_catalog.unnest($6::pg_catalog.text[]),
            pg_catalog.unnest($7::pg_catalog.text[]),
            pg_catalog.unnest($8::pg_catalog.text[]),
            pg_catalog.unnest($9::pg_catalog.text[]),
            pg_catalog.unnest($10::pg_catalog.bool[]),
            pg_catalog.unnest($11::pg_catalog.bool[]),
            pg_catalog.unnest($12::pg_catalog.interval[])
        ) AS u (id, version, pid, start, stop, output, error, sqlstate, notice, atomic, keeps, pause)
        ORDER BY u.id
    ) AS e
    CROSS JOIN LATERAL ( -- looked up one by one, whatever the statistics say
        SELECT t.tableoid AS part, t.ctid AS place, :attempt AS attempt
        FROM :table AS t
        WHERE t.id OPERATOR(pg_catalog.>=) e.id
            AND t.id OPERATOR(pg_catalog.<=) e.id
            AND :as_read
            AND (:attempt)::pg_catalog.int8 OPERATOR(pg_catalog.-) t.interrupted OPERATOR(pg_catalog.<=) t.retry
        ORDER BY t.id
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS t
)
UPDATE :table AS t
SET
    state = 'PLAN',
    start = NULL,
    stop = NULL,
    pid = e.pid,
    output = coalesce(e.output, CASE WHEN e.keeps THEN t.output END),
    error = coalesce(e.error, CASE WHEN e.keeps THEN t.error END),
    sqlstate = coalesce(e.sqlstate, CASE WHEN e.keeps THEN t.sqlstate END),
    notice = coalesce(e.notice, CASE WHEN e.keeps THEN t.notice END),
    atomic = e.atomic,
    attempt = e.attempt,
    base = coalesce(t.base, t.plan),
    plan = e.stop OPERATOR(pg_catalog.+) coalesce(
        e.pause,
        (0.9 OPERATOR(pg_catalog.+) (0.2 OPERATOR(pg_catalog.*) pg_catalog.random()))
        OPERATOR(pg_catalog.*) least(
            least(t.backoff, '1 day')
                OPERATOR(pg_catalog.*) pg_catalog.power(2, least(greatest(e.attempt::pg_catalog.int8 OPERATOR(pg_catalog.-) t.interrupted OPERATOR(pg_catalog.-) 1, 0), 20)),
            '1 day'
        )
    ),
    runs = :earlier_runs
        OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_object('start', e.start, 'stop', e.stop, 'pid', e.pid, 'state', 'FAIL', 'error', pg_catalog.left(e.error, 1000), 'cause', 'retry')
FROM ended AS e
WHERE t.ctid OPERATOR(pg_catalog.=) e.place
    AND t.tableoid OPERATOR(pg_catalog.=) e.part
RETURNING t.id OPERATOR(pg_catalog./) ( -- an error where a trigger has kept the row as it was
    t.state OPERATOR(pg_catalog.<>) ALL ('{TAKE,WORK}')
    AND t.attempt OPERATOR(pg_catalog.=) e.attempt
)::pg_catalog.int4
