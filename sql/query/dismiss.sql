-- Ends backends of ours; process id and start, in microseconds, name one for good.
-- $1 pids, $2 starts
SELECT pg_catalog.pg_terminate_backend(b.pid)
FROM ROWS FROM (
    pg_catalog.unnest($1::pg_catalog.int4[]),
    pg_catalog.unnest($2::pg_catalog.timestamptz[])
) AS b (pid, start)
JOIN pg_catalog.pg_stat_activity AS a ON a.pid OPERATOR(pg_catalog.=) b.pid AND a.backend_start OPERATOR(pg_catalog.=) b.start
WHERE :may_dismiss
    AND a.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
