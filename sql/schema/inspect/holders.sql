-- Open and prepared transactions that hold locks on the table, the oldest first, and how each is
-- ended: who may have what a change of ours waits for. When others have begun may not be seen.
-- $1 schema, $2 table, $3 whether those are meant that have what a change of a row can wait for: who
-- has written to the table, or to one that it refers to, and then who may have locked rows
SELECT :readable(said.text)
FROM (
    SELECT l.pid, l.virtualtransaction, $3::pg_catalog.bool AND pg_catalog.bool_and(l.mode OPERATOR(pg_catalog.=) 'RowShareLock') AS rows_alone
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    JOIN pg_catalog.pg_locks AS l ON l.relation OPERATOR(pg_catalog.=) c.oid
        OR $3 AND l.relation OPERATOR(pg_catalog.=) ANY (
            SELECT r.confrelid
            FROM pg_catalog.pg_constraint AS r
            WHERE r.conrelid OPERATOR(pg_catalog.=) c.oid
                AND r.contype OPERATOR(pg_catalog.=) 'f'
        )
    WHERE n.nspname OPERATOR(pg_catalog.=) $1::pg_catalog.name
        AND c.relname OPERATOR(pg_catalog.=) $2::pg_catalog.name
        AND l.granted
        AND NOT ($3 AND l.mode OPERATOR(pg_catalog.=) 'AccessShareLock')
        AND l.database OPERATOR(pg_catalog.=) (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())
        AND (l.pid IS NULL OR l.pid OPERATOR(pg_catalog.<>) pg_catalog.pg_backend_pid())
    GROUP BY l.pid, l.virtualtransaction
) AS h
LEFT JOIN LATERAL pg_catalog.pg_stat_get_activity(coalesce(h.pid, 0)) AS a ON a.pid OPERATOR(pg_catalog.=) h.pid
:prepared
CROSS JOIN LATERAL (
    SELECT CASE
        WHEN h.pid IS NULL THEN pg_catalog.concat(
            'prepared transaction ', pg_catalog.quote_ident(x.gid),
            ' of role ' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(x.owner),
            pg_catalog.format(': ROLLBACK PREPARED %L', x.gid)
        )
        ELSE pg_catalog.concat(
            'pid ', h.pid,
            ' of role ' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(a.usesysid)),
            CASE WHEN a.application_name OPERATOR(pg_catalog.<>) '' THEN pg_catalog.format(' (%L)', a.application_name) END, -- anybody chooses it
            ', since ' OPERATOR(pg_catalog.||) a.xact_start::pg_catalog.timestamptz(0)::pg_catalog.text,
            ': SELECT pg_terminate_backend(', h.pid, ')'
        )
    END AS text
) AS said
WHERE h.pid IS NOT NULL OR x.gid IS NOT NULL
ORDER BY h.rows_alone, a.xact_start NULLS FIRST
LIMIT 5;
