-- What is due, waiting or under way, in the order of its plan, from a place in that order on. A
-- million rows may come, so what nearly all have in common is NULL, which costs neither side
-- anything: no remote, max and priority 0, a task that waits.
-- Of a group or remote comes what tells it from others (sql/part/key.sql).
-- $1 plan, $2 id (the place), $3 most rows
SELECT
    t.id,
    :key_of_group,
    :key_of_remote,
    CASE WHEN t.max OPERATOR(pg_catalog.<>) 0 THEN t.max END,
    CASE WHEN t.priority OPERATOR(pg_catalog.<>) 0 THEN t.priority END,
    t.due,
    CASE
        WHEN t.state OPERATOR(pg_catalog.<>) 'PLAN' THEN -1
        WHEN t.attempt OPERATOR(pg_catalog.=) 0
            AND t.active OPERATOR(pg_catalog.>) '0'
            AND t.max OPERATOR(pg_catalog.>=) 0
            AND t.catchup OPERATOR(pg_catalog.=) 0
            AND greatest(:base, t.freed) OPERATOR(pg_catalog.+) least(t.active, '10000 years') OPERATOR(pg_catalog.<) pg_catalog.statement_timestamp()
            THEN least(pg_catalog.date_part('epoch', t.active) OPERATOR(pg_catalog.*) 1000000, 9e18)::pg_catalog.int8
    END AS expired -- -1: it is under way; else, in microseconds, its active, which has passed
FROM :table AS t
WHERE t.due IS NOT NULL
    AND (t.due, t.id) OPERATOR(pg_catalog.>) ($1, $2)
    AND t.due OPERATOR(pg_catalog.<=) pg_catalog.statement_timestamp()
ORDER BY t.due, t.id
LIMIT $3
