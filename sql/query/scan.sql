-- What is due, waiting or under way, in the order of its plan, from a place in that order on. A
-- million rows may come, so what nearly all have in common is NULL, which costs neither side
-- anything: no remote, max and priority 0, a task that waits.
-- Of a group or remote comes what tells it from others (sql/part/key.sql). To find that takes long
-- where a name is: then the group is NULL, unless the task is under way, and lengthy.sql brings it.
-- $1 plan, $2 id (the place), $3 most rows
SELECT
    t.id,
    CASE
        WHEN (pg_catalog.octet_length(t."group") OPERATOR(pg_catalog.>) 1000 OR pg_catalog.octet_length(t.remote) OPERATOR(pg_catalog.>) 1000)
            AND t.state OPERATOR(pg_catalog.=) 'PLAN' THEN NULL
        ELSE :key_of_group
    END,
    CASE
        WHEN pg_catalog.octet_length(t.remote) OPERATOR(pg_catalog.>) 1000 AND t.state OPERATOR(pg_catalog.=) 'PLAN' THEN NULL
        ELSE :key_of_remote
    END,
    CASE WHEN t.max OPERATOR(pg_catalog.<>) 0 THEN t.max END,
    CASE WHEN t.priority OPERATOR(pg_catalog.<>) 0 THEN t.priority END,
    t.due,
    :expired
FROM :table AS t
WHERE t.due IS NOT NULL
    AND (t.due, t.id) OPERATOR(pg_catalog.>) ($1, $2::pg_catalog.int8)
    AND t.due OPERATOR(pg_catalog.<=) pg_catalog.statement_timestamp()
ORDER BY t.due, t.id
LIMIT $3
