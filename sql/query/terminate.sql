-- Ends sessions of an old leader whose task was set to STOP, unless they have gone on to another one. Of a task that was only taken it is not
-- known which session runs it: it ends with its controller.
-- $1 ids of what is under way and not run by us, $2 sessions that are ours, $3 beginning of the application_name of the target's sessions
SELECT pg_catalog.pg_terminate_backend(a.pid)
FROM unnest($1::int8[]) AS l (id)
JOIN :table AS t USING (id)
JOIN pg_catalog.pg_stat_activity AS a ON a.pid = t.pid
WHERE t.state = 'STOP'
    AND t.stopping
    AND t.stop IS NULL
    AND t.start >= a.backend_start
    AND coalesce(t.remote, '') = '' -- a remote's server may name any pid
    AND a.datname = pg_catalog.current_database()
    AND a.usename = current_user
    AND left(a.application_name, length($3)) = $3
    AND a.pid <> ALL ($2::int4[])
    AND NOT EXISTS (
        SELECT
        FROM unnest($1::int8[]) AS o (id)
        JOIN :table AS w USING (id)
        WHERE w.state = 'WORK' AND w.pid = t.pid AND w.start > t.start
    )
