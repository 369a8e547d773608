-- Registers sessions before their first task, and takes out those that have ended.
-- $1 pids, $2 starts; $3 pids and $4 starts of what has ended
WITH ended AS (
    DELETE FROM :register AS r
    USING ROWS FROM (
        pg_catalog.unnest($3::pg_catalog.int4[]),
        pg_catalog.unnest($4::pg_catalog.timestamptz[])
    ) AS e (pid, started)
    WHERE r.pid OPERATOR(pg_catalog.=) e.pid
        AND r.started OPERATOR(pg_catalog.=) e.started
)
INSERT INTO :register (pid, started)
SELECT s.pid, s.started
FROM ROWS FROM (
    pg_catalog.unnest($1::pg_catalog.int4[]),
    pg_catalog.unnest($2::pg_catalog.timestamptz[])
) AS s (pid, started)
ON CONFLICT DO NOTHING
