-- Registers sessions before their first task, and removes all sessions that are gone, whoever
-- opened them.
-- $1 pids, $2 starts
WITH gone AS (
    DELETE FROM :register AS r
    WHERE NOT EXISTS (
        SELECT
        FROM pg_stat_get_activity(r.pid) AS a
        WHERE a.pid = r.pid
            AND (a.backend_start IS NULL OR a.backend_start = r.started)
    )
)
INSERT INTO :register (pid, started)
SELECT s.pid, s.started
FROM ROWS FROM (
    unnest($1::int4[]),
    unnest($2::timestamptz[])
) AS s (pid, started)
ON CONFLICT DO NOTHING
