-- Takes out of the register whatever is gone, no matter who had opened it.
DELETE FROM :register AS r
WHERE NOT EXISTS (
    SELECT
    FROM pg_stat_get_activity(r.pid) AS a
    WHERE a.pid = r.pid
        AND (a.backend_start IS NULL OR a.backend_start = r.started)
)
