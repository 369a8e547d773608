-- Ends backends of ours. Process id and start (in microseconds) identify a backend for ever.
-- $1 pids, $2 starts
SELECT e.pid, bool_or(e.ended)
FROM :each_role
CROSS JOIN LATERAL (
    SELECT
        b.pid,
        CASE WHEN a.backend_start = b.start AND :may_end THEN pg_terminate_backend(b.pid) END AS ended,
        a.backend_start IS NULL OR a.backend_start = b.start AS same
    FROM ROWS FROM (
        unnest($1::int4[]),
        unnest($2::timestamptz[])
    ) AS b (pid, start)
    CROSS JOIN LATERAL pg_stat_get_activity(CASE WHEN NOT v.login OR :unmasked THEN b.pid END) AS a
    WHERE a.pid = b.pid
        AND a.datid = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
    OFFSET 0
) AS e
GROUP BY e.pid
HAVING bool_and(e.same)
