-- Gives up tasks that have never started and are no longer worth it.
-- $1 ids, $2 whether to say nothing
UPDATE :table AS t
SET
    state = 'GONE',
    start = pg_catalog.statement_timestamp(),
    stop = pg_catalog.statement_timestamp(),
    error = CASE WHEN $2::pg_catalog.bool THEN t.error ELSE 'ERROR:  task not active' END
WHERE t.id OPERATOR(pg_catalog.=) ANY (
        SELECT x.id
        FROM :table AS x
        WHERE x.id OPERATOR(pg_catalog.=) ANY ($1)
            AND x.state OPERATOR(pg_catalog.=) 'PLAN'
            AND x.attempt OPERATOR(pg_catalog.=) 0
            AND x.active OPERATOR(pg_catalog.>) '0'
            AND x.max OPERATOR(pg_catalog.>=) 0
            AND x.catchup OPERATOR(pg_catalog.=) 0
            AND x.plan OPERATOR(pg_catalog.<=) pg_catalog.statement_timestamp()
            AND coalesce(x.base, x.plan) OPERATOR(pg_catalog.+) least(x.active, '10000 years') OPERATOR(pg_catalog.<) pg_catalog.statement_timestamp()
        ORDER BY x.id
        FOR NO KEY UPDATE SKIP LOCKED
    )
RETURNING
    t.id OPERATOR(pg_catalog./) (t.state OPERATOR(pg_catalog.<>) 'PLAN')::pg_catalog.int4, -- an error where a trigger has kept the row as it was
    t.repeat OPERATOR(pg_catalog.>) '0'
