-- Which of these backends live still: process id and start, in microseconds, name one for good.
-- $1 pids, $2 starts
SELECT b.pid
FROM unnest($1::int4[], $2::timestamptz[]) AS b (pid, start)
WHERE EXISTS (
    SELECT
    FROM pg_catalog.pg_stat_get_activity(b.pid) AS a
    WHERE a.pid = b.pid AND (a.backend_start IS NULL OR a.backend_start = b.start)
)
