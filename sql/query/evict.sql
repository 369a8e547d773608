-- Ends sessions of an old leader that run no marked task: those runs have had no effect yet, and
-- their tasks will run again. Spares a session with a marked task, unless it waits for a message
-- that cannot come any more, or for somebody to read its output.
-- $1 our sessions, $2 beginning of the application_name of the target's sessions, $3 ids of marked
-- tasks that we do not run, $4 sessions opened after this belong to no old leader; $2 and $4 count
-- only if there is no register of sessions
WITH marked AS MATERIALIZED (
    SELECT t.pid, t.start
    FROM unnest($3::int8[]) AS l (id)
    CROSS JOIN LATERAL (
        SELECT w.pid, w.start
        FROM :table AS w
        WHERE w.id BETWEEN l.id AND l.id
            AND w.state = 'WORK'
            AND coalesce(w.remote, '') = '' -- a remote's server may use any pid
        ORDER BY w.id
    ) AS t
)
SELECT e.ended
FROM :each_role
CROSS JOIN LATERAL (
    SELECT pg_terminate_backend(a.pid) AS ended
    FROM pg_stat_get_activity(CASE WHEN v.login AND NOT :unmasked THEN 0 END) AS a
    CROSS JOIN (SELECT $2::text AS prefix, $4::timestamptz AS latest) AS old
    WHERE :earlier
        AND a.pid <> ALL ($1::int4[])
        AND (
            NOT EXISTS (SELECT FROM marked AS m WHERE m.pid = a.pid AND m.start >= a.backend_start)
            OR a.state_change < (statement_timestamp() - '1 s'::interval)
            AND (
                a.state ~~ 'idle in transaction%'
                OR a.state = 'active' AND a.wait_event = 'ClientRead'
            )
            OR a.state_change < (statement_timestamp() - '10 s'::interval)
            AND (
                a.state = 'idle'
                OR a.state = 'active' AND a.wait_event = 'ClientWrite'
            )
        )
    OFFSET 0
) AS e
