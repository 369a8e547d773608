-- Ends backends of ours; process id and start, in microseconds, name one for good. Of those that live
-- and only others may end, it returns NULL: they may not even show us when they have begun.
-- $1 pids, $2 starts
SELECT
    b.pid,
    CASE WHEN a.backend_start OPERATOR(pg_catalog.=) b.start AND :may_dismiss THEN pg_catalog.pg_terminate_backend(b.pid) END
FROM ROWS FROM (
    pg_catalog.unnest($1::pg_catalog.int4[]),
    pg_catalog.unnest($2::pg_catalog.timestamptz[])
) AS b (pid, start)
JOIN pg_catalog.pg_stat_activity AS a ON a.pid OPERATOR(pg_catalog.=) b.pid
WHERE a.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
    AND (a.backend_start IS NULL OR a.backend_start OPERATOR(pg_catalog.=) b.start)
