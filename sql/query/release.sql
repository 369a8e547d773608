-- Gives tasks back that have not run, or whose run was taken back; the try does not count. With a delay they wait, and say why.
-- $1 ids, $2 pids of the controllers that took them, $3 pids of the sessions (or null), $4 delay (or null), $5 error (or null), $6 SQLSTATE
WITH released AS MATERIALIZED (
    SELECT r.*
    FROM (
        SELECT *
        FROM ROWS FROM (
            pg_catalog.unnest($1::pg_catalog.int8[]),
            pg_catalog.unnest($2::pg_catalog.int4[]),
            pg_catalog.unnest($3::pg_catalog.int4[]),
            pg_catalog.unnest($4::pg_catalog.interval[]),
            pg_catalog.unnest($5::pg_catalog.text[]),
            pg_catalog.unnest($6::pg_catalog.text[])
        ) AS u (id, owner, pid, delay, error, sqlstate)
        ORDER BY u.id
    ) AS r
    CROSS JOIN LATERAL ( -- looked up one by one, whatever the statistics say
        SELECT
        FROM :table AS t
        WHERE t.id OPERATOR(pg_catalog.=) r.id
            AND (
                t.state OPERATOR(pg_catalog.=) 'TAKE' AND t.pid OPERATOR(pg_catalog.=) r.owner
                OR t.state OPERATOR(pg_catalog.=) 'WORK' AND t.pid OPERATOR(pg_catalog.=) r.pid
            )
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
    attempt = greatest(t.attempt OPERATOR(pg_catalog.-) 1, 0),
    base = CASE WHEN r.delay IS NULL THEN t.base ELSE coalesce(t.base, t.plan) END,
    plan = CASE WHEN r.delay IS NULL THEN t.plan ELSE pg_catalog.statement_timestamp() OPERATOR(pg_catalog.+) r.delay END,
    error = coalesce(r.error, t.error),
    sqlstate = CASE WHEN r.error IS NULL THEN t.sqlstate ELSE r.sqlstate END
FROM released AS r
WHERE t.id OPERATOR(pg_catalog.=) r.id
RETURNING t.id
