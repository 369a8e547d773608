-- Ends sessions of an old leader that wait, in a transaction, for a word that cannot come any more: or for the rest of it, if it was cut off in the middle.
-- So are those of which nobody takes the output, or learns that the task's own transaction is over.
-- $1 sessions that are ours, $2 beginning of the application_name of the target's sessions, $3 ids of what is under way and not run by us
WITH ran AS MATERIALIZED (
    SELECT t.pid, pg_catalog.max(t.start) AS start
    FROM pg_catalog.unnest($3::pg_catalog.int8[]) AS l (id)
    CROSS JOIN LATERAL (
        SELECT w.pid, w.start
        FROM :table AS w
        WHERE w.id OPERATOR(pg_catalog.>=) l.id
            AND w.id OPERATOR(pg_catalog.<=) l.id
            AND w.state OPERATOR(pg_catalog.=) 'WORK'
        ORDER BY w.id
    ) AS t
    GROUP BY t.pid
)
SELECT pg_catalog.pg_terminate_backend(a.pid)
FROM pg_catalog.pg_stat_activity AS a
WHERE a.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
    AND a.backend_type OPERATOR(pg_catalog.=) 'client backend' -- parallel workers bear the names of their leaders
    AND a.usename OPERATOR(pg_catalog.=) current_user
    AND pg_catalog.left(a.application_name, pg_catalog.length($2)) OPERATOR(pg_catalog.=) $2
    AND (
        a.state OPERATOR(pg_catalog.~~) 'idle in transaction%'
        OR a.state OPERATOR(pg_catalog.=) 'active' AND a.wait_event OPERATOR(pg_catalog.=) 'ClientRead'
        OR a.state_change OPERATOR(pg_catalog.<) (pg_catalog.statement_timestamp() OPERATOR(pg_catalog.-) '10 s'::pg_catalog.interval)
        AND (
            a.state OPERATOR(pg_catalog.=) 'active' AND a.wait_event OPERATOR(pg_catalog.=) 'ClientWrite'
            OR a.state OPERATOR(pg_catalog.=) 'idle' AND EXISTS (
                SELECT
                FROM ran AS r
                WHERE r.pid OPERATOR(pg_catalog.=) a.pid AND r.start OPERATOR(pg_catalog.>=) a.backend_start
            )
        )
    )
    AND a.state_change OPERATOR(pg_catalog.<) (pg_catalog.statement_timestamp() OPERATOR(pg_catalog.-) '1 s'::pg_catalog.interval)
    AND a.pid OPERATOR(pg_catalog.<>) ALL ($1::pg_catalog.int4[])
