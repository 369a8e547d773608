-- Ends backends of ours; process id and start, in microseconds, name one for good.
-- $1 pids, $2 starts
SELECT pg_catalog.pg_terminate_backend(b.pid)
FROM unnest($1::int4[], $2::timestamptz[]) AS b (pid, start)
JOIN pg_catalog.pg_stat_activity AS a ON a.pid = b.pid AND a.backend_start = b.start
WHERE a.usename = current_user
