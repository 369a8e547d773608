-- Whether the backend a is in the register: a session of this target that an earlier leader, or we,
-- have opened.
a.datid = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
    AND :may_end
    AND a.backend_type = 'client backend'
    AND EXISTS (
        SELECT
        FROM :register AS r
        WHERE r.pid = a.pid
            AND r.started = a.backend_start
    )
