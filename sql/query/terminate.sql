-- Ends sessions of an old leader whose task was set to STOP, unless they have gone on to another one. Of a task that was only taken it is not
-- known which session runs it: it ends with its controller.
-- $1 ids of what is under way and not run by us, $2 sessions that are ours, $3 beginning of the application_name of the target's sessions
SELECT pg_catalog.pg_terminate_backend(a.pid)
FROM pg_catalog.unnest($1::pg_catalog.int8[]) AS l (id)
JOIN :table AS t ON t.id OPERATOR(pg_catalog.=) l.id
JOIN pg_catalog.pg_stat_activity AS a ON a.pid OPERATOR(pg_catalog.=) t.pid
WHERE t.state OPERATOR(pg_catalog.=) 'STOP'
    AND t.stopping
    AND t.stop IS NULL
    AND t.start OPERATOR(pg_catalog.>=) a.backend_start
    AND coalesce(t.remote, '') OPERATOR(pg_catalog.=) '' -- a remote's server may name any pid
    AND a.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
    AND a.backend_type OPERATOR(pg_catalog.=) 'client backend' -- parallel workers bear the names of their leaders
    AND a.usename OPERATOR(pg_catalog.=) current_user
    AND pg_catalog.left(a.application_name, pg_catalog.length($3)) OPERATOR(pg_catalog.=) $3
    AND a.pid OPERATOR(pg_catalog.<>) ALL ($2::pg_catalog.int4[])
    AND NOT EXISTS (
        SELECT
        FROM pg_catalog.unnest($1::pg_catalog.int8[]) AS o (id)
        JOIN :table AS w ON w.id OPERATOR(pg_catalog.=) o.id
        WHERE w.state OPERATOR(pg_catalog.=) 'WORK'
            AND w.pid OPERATOR(pg_catalog.=) t.pid
            AND w.start OPERATOR(pg_catalog.>) t.start
    )
