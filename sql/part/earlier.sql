-- Whether the backend a is a session of the target's that an earlier leader has opened, or we: it
-- is in the register.
a.datid OPERATOR(pg_catalog.=) (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())
    AND :may_end
    AND a.backend_type OPERATOR(pg_catalog.=) 'client backend'
    AND EXISTS (
        SELECT
        FROM :register AS r
        WHERE r.pid OPERATOR(pg_catalog.=) a.pid
            AND r.started OPERATOR(pg_catalog.=) a.backend_start
    )
