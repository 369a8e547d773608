-- Those who hold a lock on the table, the longest transaction first. Of other roles' backends no
-- more than the pid may be seen.
SELECT pg_catalog.concat(
    'pid ', a.pid,
    ' of ' OPERATOR(pg_catalog.||) a.usename,
    ' (' OPERATOR(pg_catalog.||) CASE WHEN a.application_name OPERATOR(pg_catalog.<>) '' THEN a.application_name END OPERATOR(pg_catalog.||) ')',
    ', in a transaction since ' OPERATOR(pg_catalog.||) a.xact_start::pg_catalog.timestamptz(0)::pg_catalog.text
)
FROM pg_catalog.pg_stat_activity AS a
WHERE a.pid OPERATOR(pg_catalog.<>) pg_catalog.pg_backend_pid()
    AND a.pid OPERATOR(pg_catalog.=) ANY (
        SELECT l.pid
        FROM pg_catalog.pg_locks AS l
        JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) l.relation
        JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
        WHERE l.granted
            AND n.nspname OPERATOR(pg_catalog.=) $1
            AND c.relname OPERATOR(pg_catalog.=) $2
            AND l.database OPERATOR(pg_catalog.=) (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())
    )
ORDER BY a.xact_start
LIMIT 5;
