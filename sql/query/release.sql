-- Gives tasks back that have not run, or whose run was taken back; the try does not count. With a
-- delay they wait, and say why.
-- $1 ids, $2 versions of the rows that were read, $3 pids of the sessions (or null), $4 delay (or
-- null), $5 error (or null), $6 SQLSTATE,
-- $7 starts and $8 stops of runs that a drain has cancelled (or null)
WITH released AS MATERIALIZED (
    SELECT e.*, t.part, t.place
    FROM (
        SELECT *
        FROM ROWS FROM (
            pg_catalog.unnest($1::pg_catalog.int8[]),
            pg_catalog.unnest($2::pg_catalog.int4[]),
            pg_catalog.unnest($3::pg_catalog.int4[]),
            pg_catalog.unnest($4::pg_catalog.interval[]),
            pg_catalog.unnest($5::pg_catalog.text[]),
            pg_catalog.unnest($6::pg_catalog.text[]),
            pg_catalog.unnest($7::pg_catalog.timestamptz[]),
            pg_catalog.unnest($8::pg_catalog.timestamptz[])
        ) AS u (id, version, pid, delay, error, sqlstate, start, stop)
        ORDER BY u.id
    ) AS e
    CROSS JOIN LATERAL ( -- looked up one by one, whatever the statistics say
        SELECT t.tableoid AS part, t.ctid AS place
        FROM :table AS t
        WHERE t.id OPERATOR(pg_catalog.>=) e.id
            AND t.id OPERATOR(pg_catalog.<=) e.id
            AND :as_read
        ORDER BY t.id
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS t
)
UPDATE :table AS t
SET
    state = 'PLAN',
    pid = NULL,
    start = NULL,
    stop = NULL,
    atomic = NULL,
    attempt = CASE WHEN t.state OPERATOR(pg_catalog.=) 'PLAN' THEN t.attempt ELSE greatest(t.attempt OPERATOR(pg_catalog.-) 1, 0) END,
    base = CASE WHEN r.delay IS NULL THEN t.base ELSE coalesce(t.base, t.plan) END,
    plan = CASE WHEN r.delay IS NULL THEN t.plan ELSE pg_catalog.statement_timestamp() OPERATOR(pg_catalog.+) r.delay END,
    error = coalesce(r.error, t.error),
    sqlstate = CASE WHEN r.error IS NULL THEN t.sqlstate ELSE r.sqlstate END,
    runs = CASE WHEN r.start IS NULL THEN t.runs ELSE
        :earlier_runs
        OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_object('start', r.start, 'stop', r.stop, 'pid', r.pid, 'state', t.state, 'error', pg_catalog.left(t.error, 1000), 'cause', 'drained')
    END
FROM released AS r
WHERE t.ctid OPERATOR(pg_catalog.=) r.place
    AND t.tableoid OPERATOR(pg_catalog.=) r.part
RETURNING t.id OPERATOR(pg_catalog./) (t.state OPERATOR(pg_catalog.<>) ALL ('{TAKE,WORK}'))::pg_catalog.int4 -- an error where a trigger has kept it under way
