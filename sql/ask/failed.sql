-- How many of the newest tasks have FAILed within 24 hours, and whether there are older tasks.
-- $1 most tasks that are looked at
SELECT
    pg_catalog.count(CASE WHEN n.state OPERATOR(pg_catalog.=) 'FAIL' AND n.stop OPERATOR(pg_catalog.>) (pg_catalog.statement_timestamp() OPERATOR(pg_catalog.-) '24 hours'::pg_catalog.interval) THEN 1 END),
    pg_catalog.count(*) OPERATOR(pg_catalog.>=) $1::pg_catalog.int8
FROM (
    SELECT t.state, t.stop
    FROM :table AS t
    ORDER BY t.id DESC
    LIMIT $1::pg_catalog.int8
) AS n
