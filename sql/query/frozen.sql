-- Ends sessions of an old leader that wait, in a transaction, for a word that cannot come any more: or for the rest of it, if it was cut off in the middle.
-- So are those of which nobody takes the output, or learns that the task's own transaction is over.
-- A row that is marked tells which session runs it. While one is only taken it may be any of the role's, of that name, that was there before we came to lead.
-- $1 sessions that are ours, $2 beginning of the application_name of the target's sessions, $3 ids of what is under way and not run by us,
-- $4 when sessions of an old leader were there at the latest
WITH under_way AS MATERIALIZED (
    SELECT t.pid, t.start
    FROM pg_catalog.unnest($3::pg_catalog.int8[]) AS l (id)
    CROSS JOIN LATERAL (
        SELECT w.pid, w.start
        FROM :table AS w
        WHERE w.id OPERATOR(pg_catalog.>=) l.id
            AND w.id OPERATOR(pg_catalog.<=) l.id
            AND (w.state OPERATOR(pg_catalog.=) ANY ('{TAKE,WORK}') OR w.stopping)
            AND coalesce(w.remote, '') OPERATOR(pg_catalog.=) ''
        ORDER BY w.id
    ) AS t
)
SELECT pg_catalog.pg_terminate_backend(a.pid)
FROM pg_catalog.pg_stat_activity AS a
WHERE a.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
    AND a.backend_type OPERATOR(pg_catalog.=) 'client backend' -- parallel workers bear the names of their leaders
    AND a.usename OPERATOR(pg_catalog.=) current_user
    AND a.backend_start OPERATOR(pg_catalog.<=) $4
    AND pg_catalog.left(a.application_name, pg_catalog.length($2)) OPERATOR(pg_catalog.=) $2
    AND (
        a.state OPERATOR(pg_catalog.~~) 'idle in transaction%'
        OR a.state OPERATOR(pg_catalog.=) 'active' AND a.wait_event OPERATOR(pg_catalog.=) 'ClientRead'
        OR a.state_change OPERATOR(pg_catalog.<) (pg_catalog.statement_timestamp() OPERATOR(pg_catalog.-) '10 s'::pg_catalog.interval)
        AND (
            a.state OPERATOR(pg_catalog.=) 'active' AND a.wait_event OPERATOR(pg_catalog.=) 'ClientWrite'
            OR a.state OPERATOR(pg_catalog.=) 'idle' AND EXISTS (
                SELECT
                FROM under_way AS u
                WHERE u.pid OPERATOR(pg_catalog.=) a.pid AND u.start OPERATOR(pg_catalog.>=) a.backend_start
            )
        )
    )
    AND a.state_change OPERATOR(pg_catalog.<) (pg_catalog.statement_timestamp() OPERATOR(pg_catalog.-) '1 s'::pg_catalog.interval)
    AND a.pid OPERATOR(pg_catalog.<>) ALL ($1::pg_catalog.int4[])
    AND (
        EXISTS (SELECT FROM under_way AS u WHERE u.start IS NULL)
        OR EXISTS (SELECT FROM under_way AS u WHERE u.pid OPERATOR(pg_catalog.=) a.pid AND u.start OPERATOR(pg_catalog.>=) a.backend_start)
    )
