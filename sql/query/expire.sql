-- Gives up tasks that have never started and are no longer worth it.
-- $1 ids, $2 whether to say nothing
WITH expired AS MATERIALIZED (
    SELECT x.part, x.place
    FROM pg_catalog.unnest($1::pg_catalog.int8[]) AS l (id)
    CROSS JOIN LATERAL (
        SELECT t.tableoid AS part, t.ctid AS place
        FROM :table AS t
        WHERE t.id OPERATOR(pg_catalog.>=) l.id
            AND t.id OPERATOR(pg_catalog.<=) l.id
            AND t.state OPERATOR(pg_catalog.=) 'PLAN'
            AND t.attempt OPERATOR(pg_catalog.=) 0
            AND t.active OPERATOR(pg_catalog.>) '0'
            AND t.max OPERATOR(pg_catalog.>=) 0
            AND t.catchup OPERATOR(pg_catalog.=) 0
            AND t.due OPERATOR(pg_catalog.>) '-infinity'
            AND t.due OPERATOR(pg_catalog.<=) pg_catalog.statement_timestamp()
            AND greatest(:base, t.freed) OPERATOR(pg_catalog.+) least(t.active, '10000 years') OPERATOR(pg_catalog.<) pg_catalog.statement_timestamp()
        ORDER BY t.id
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
