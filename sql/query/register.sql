-- Registers sessions before their first task, and takes out those that have ended.
-- $1 pids, $2 starts; $3 pids and $4 starts of what has ended
WITH ended AS (
    DELETE FROM :register AS r
    USING ROWS FROM (
        unnest($3::int4[]),
        unnest($4::timestamptz[])
    ) AS e (pid, started)
    WHERE r.pid = e.pid
        AND r.started = e.started
)
INSERT INTO :register (pid, started)
SELECT s.pid, s.started
FROM ROWS FROM (
    unnest($1::int4[]),
    unnest($2::timestamptz[])
) AS s (pid, started)
ON CONFLICT DO NOTHING
