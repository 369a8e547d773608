-- Gives up tasks that have never started and are no longer worth it.
-- $1 ids, $2 whether to say nothing
WITH expired AS MATERIALIZED (
    SELECT x.part, x.place
    FROM pg_catalog.unnest($1::pg_catalog.int8[]) AS l (id)
    CROSS JOIN LATERAL (
        SELECT x.tableoid AS part, x.ctid AS place
        FROM :table AS x
        WHERE x.id OPERATOR(pg_catalog.>=) l.id
            AND x.id OPERATOR(pg_catalog.<=) l.id
            AND x.state OPERATOR(pg_catalog.=) 'PLAN'
            AND x.attempt OPERATOR(pg_catalog.=) 0
            AND x.active OPERATOR(pg_catalog.>) '0'
            AND x.max OPERATOR(pg_catalog.>=) 0
            AND x.catchup OPERATOR(pg_catalog.=) 0
            AND x.due OPERATOR(pg_catalog.>) '-infinity'
            AND x.due OPERATOR(pg_catalog.<=) pg_catalog.statement_timestamp()
            AND greatest(coalesce(x.base, x.plan), x.freed) OPERATOR(pg_catalog.+) least(x.active, '10000 years') OPERATOR(pg_catalog.<) pg_catalog.statement_timestamp()
        ORDER BY x.id
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS x
)
UPDATE :table AS t
SET
    state = 'GONE',
    start = pg_catalog.statement_timestamp(),
    stop = pg_catalog.statement_timestamp(),
    error = CASE WHEN $2::pg_catalog.bool THEN t.error ELSE 'ERROR:  task not active' END
FROM expired AS e
WHERE t.ctid OPERATOR(pg_catalog.=) e.place
    AND t.tableoid OPERATOR(pg_catalog.=) e.part
RETURNING
    t.id OPERATOR(pg_catalog./) (t.state OPERATOR(pg_catalog.<>) 'PLAN')::pg_catalog.int4, -- an error where a trigger has kept the row as it was
    :followed,
    :last_words
