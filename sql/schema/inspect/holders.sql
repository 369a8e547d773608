-- Those who hold a lock on the table, the longest transaction first. Of other roles' backends no more than the pid may be seen.
SELECT pg_catalog.concat('pid ', a.pid, ' of ' || a.usename, ' (' || nullif(a.application_name, '') || ')',
    ', in a transaction since ' || a.xact_start::pg_catalog.timestamptz(0))
FROM pg_catalog.pg_stat_activity AS a
WHERE a.pid <> pg_catalog.pg_backend_pid()
    AND a.pid IN (
        SELECT l.pid
        FROM pg_catalog.pg_locks AS l
        JOIN pg_catalog.pg_class AS c ON c.oid = l.relation
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE l.granted AND n.nspname = $1 AND c.relname = $2
            AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
    )
ORDER BY a.xact_start
LIMIT 5;
