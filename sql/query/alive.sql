-- Which of these backends live still, whose connections we have lost: process id and start, in
-- microseconds, name one for good. One that waits for our next word, or for us to read, is ended:
-- the server may not learn for hours that we are gone.
-- $1 pids, $2 starts
SELECT
    b.pid,
    CASE WHEN a.wait_event OPERATOR(pg_catalog.=) ANY ('{ClientRead,ClientWrite}') AND :may_end THEN pg_catalog.pg_terminate_backend(b.pid) END
FROM ROWS FROM (
    pg_catalog.unnest($1::pg_catalog.int4[]),
    pg_catalog.unnest($2::pg_catalog.timestamptz[])
) AS b (pid, start)
CROSS JOIN LATERAL pg_catalog.pg_stat_get_activity(b.pid) AS a
WHERE a.pid OPERATOR(pg_catalog.=) b.pid
    AND a.datid OPERATOR(pg_catalog.=) (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())
    AND (a.backend_start IS NULL OR a.backend_start OPERATOR(pg_catalog.=) b.start)
