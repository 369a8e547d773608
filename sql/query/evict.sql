-- Ends sessions of an old leader that run nothing which is marked: what they run has had no effect
-- yet, and its tasks will run again. One that is marked is spared, but for one that waits for a
-- word that cannot come any more, or for somebody to take its output.
-- $1 sessions that are ours, $2 beginning of the application_name of the target's sessions, $3 ids
-- of what is marked and not run by us,
-- $4 when sessions of an old leader were there at the latest; $2 and $4 count only where there is no
-- register of sessions
WITH marked AS MATERIALIZED (
    SELECT t.pid, t.start
    FROM pg_catalog.unnest($3::pg_catalog.int8[]) AS l (id)
    CROSS JOIN LATERAL (
        SELECT w.pid, w.start
        FROM :table AS w
        WHERE w.id OPERATOR(pg_catalog.>=) l.id
            AND w.id OPERATOR(pg_catalog.<=) l.id
            AND w.state OPERATOR(pg_catalog.=) 'WORK'
            AND coalesce(w.remote, '') OPERATOR(pg_catalog.=) '' -- a remote's server may name any pid
        ORDER BY w.id
    ) AS t
)
SELECT pg_catalog.pg_terminate_backend(a.pid)
FROM pg_catalog.pg_stat_activity AS a
CROSS JOIN (SELECT $2::pg_catalog.text AS prefix, $4::pg_catalog.timestamptz AS latest) AS old
WHERE :earlier
    AND a.pid OPERATOR(pg_catalog.<>) ALL ($1::pg_catalog.int4[])
    AND (
        NOT EXISTS (SELECT FROM marked AS m WHERE m.pid OPERATOR(pg_catalog.=) a.pid AND m.start OPERATOR(pg_catalog.>=) a.backend_start)
        OR a.state_change OPERATOR(pg_catalog.<) (pg_catalog.statement_timestamp() OPERATOR(pg_catalog.-) '1 s'::pg_catalog.interval)
        AND (
            a.state OPERATOR(pg_catalog.~~) 'idle in transaction%'
            OR a.state OPERATOR(pg_catalog.=) 'active' AND a.wait_event OPERATOR(pg_catalog.=) 'ClientRead'
        )
        OR a.state_change OPERATOR(pg_catalog.<) (pg_catalog.statement_timestamp() OPERATOR(pg_catalog.-) '10 s'::pg_catalog.interval)
        AND (
            a.state OPERATOR(pg_catalog.=) 'idle'
            OR a.state OPERATOR(pg_catalog.=) 'active' AND a.wait_event OPERATOR(pg_catalog.=) 'ClientWrite'
        )
    )
