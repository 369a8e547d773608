-- Ends backends of ours. Process id and start (in microseconds) identify a backend for ever.
-- $1 pids, $2 starts
SELECT
    b.pid,
    CASE WHEN a.backend_start = b.start AND :may_end THEN pg_terminate_backend(b.pid) END
FROM ROWS FROM (
    unnest($1::int4[]),
    unnest($2::timestamptz[])
) AS b (pid, start)
JOIN pg_stat_activity AS a ON a.pid = b.pid
WHERE a.datname = current_database()
    AND (a.backend_start IS NULL OR a.backend_start = b.start)
