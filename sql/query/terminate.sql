-- Ends sessions of an old leader whose task was set to STOP, unless they have gone on to another one. Of a task that was only taken it is not
-- known which session runs it: it ends with its controller.
-- $1 ids of what is under way and not run by us, $2 sessions that are ours, $3 beginning of the application_name of the target's sessions
WITH ran AS MATERIALIZED (
    SELECT
        t.pid,
        pg_catalog.max(CASE WHEN t.state OPERATOR(pg_catalog.=) 'STOP' THEN t.start END) AS stopped,
        pg_catalog.max(CASE WHEN t.state OPERATOR(pg_catalog.=) 'WORK' THEN t.start END) AS works
    FROM pg_catalog.unnest($1::pg_catalog.int8[]) AS l (id)
    CROSS JOIN LATERAL (
        SELECT w.pid, w.state, w.start
        FROM :table AS w
        WHERE w.id OPERATOR(pg_catalog.>=) l.id
            AND w.id OPERATOR(pg_catalog.<=) l.id
            AND (
                w.state OPERATOR(pg_catalog.=) 'WORK'
                OR w.state OPERATOR(pg_catalog.=) 'STOP' AND w.stopping AND w.stop IS NULL
            )
            AND coalesce(w.remote, '') OPERATOR(pg_catalog.=) '' -- a remote's server may name any pid
        ORDER BY w.id
    ) AS t
    GROUP BY t.pid
)
SELECT pg_catalog.pg_terminate_backend(a.pid)
FROM ran AS r
CROSS JOIN LATERAL pg_catalog.pg_stat_get_activity(r.pid) AS a
WHERE r.stopped OPERATOR(pg_catalog.>=) a.backend_start
    AND (r.works OPERATOR(pg_catalog.<=) r.stopped) IS NOT FALSE
    AND a.pid OPERATOR(pg_catalog.=) r.pid
    AND a.datid OPERATOR(pg_catalog.=) (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())
    AND a.backend_type OPERATOR(pg_catalog.=) 'client backend' -- parallel workers bear the names of their leaders
    AND a.usesysid OPERATOR(pg_catalog.=) pg_catalog.quote_ident(current_user)::pg_catalog.regrole::pg_catalog.oid
    AND pg_catalog.left(a.application_name, pg_catalog.length($3)) OPERATOR(pg_catalog.=) $3
    AND a.pid OPERATOR(pg_catalog.<>) ALL ($2::pg_catalog.int4[])
