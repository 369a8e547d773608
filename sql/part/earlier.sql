-- Whether the backend a is a session of the target's that an earlier leader has opened, or we: it
-- is in the register.
a.datid = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
    AND :may_end
    AND a.backend_type = 'client backend'
    AND EXISTS (
        SELECT
        FROM :register AS r
        WHERE r.pid = a.pid
            AND r.started = a.backend_start
    )
