-- Open and prepared transactions that hold locks on the table, the oldest first, and how each is
-- ended: who may have what a change of ours waits for. When others have begun may not be seen.
-- $1 schema, $2 table, $3 whether those that have only read, or locked rows, are left out
SELECT CASE
    WHEN h.pid IS NULL THEN pg_catalog.concat(
        'prepared transaction ', pg_catalog.quote_ident(x.gid),
        ' of role ' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(x.owner),
        pg_catalog.format(': ROLLBACK PREPARED %L', x.gid)
    )
    ELSE pg_catalog.concat(
        'pid ', h.pid,
        ' of role ' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(a.usesysid)),
        ' (' OPERATOR(pg_catalog.||) CASE WHEN a.application_name OPERATOR(pg_catalog.<>) '' THEN a.application_name END OPERATOR(pg_catalog.||) ')',
        ', since ' OPERATOR(pg_catalog.||) a.xact_start::pg_catalog.timestamptz(0)::pg_catalog.text,
        ': SELECT pg_terminate_backend(', h.pid, ')'
    )
END
FROM (
    SELECT DISTINCT l.pid, l.virtualtransaction
    FROM pg_catalog.pg_locks AS l
    JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) l.relation
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    WHERE l.granted
        AND NOT ($3::pg_catalog.bool AND l.mode OPERATOR(pg_catalog.=) ANY ('{AccessShareLock,RowShareLock}'::pg_catalog.text[]))
        AND n.nspname OPERATOR(pg_catalog.=) $1::pg_catalog.name
        AND c.relname OPERATOR(pg_catalog.=) $2::pg_catalog.name
        AND l.database OPERATOR(pg_catalog.=) (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())
        AND (l.pid IS NULL OR l.pid OPERATOR(pg_catalog.<>) pg_catalog.pg_backend_pid())
) AS h
LEFT JOIN LATERAL pg_catalog.pg_stat_get_activity(coalesce(h.pid, 0)) AS a ON a.pid OPERATOR(pg_catalog.=) h.pid
LEFT JOIN LATERAL (
    SELECT p.owner, p.gid
    FROM pg_catalog.pg_locks AS t
    JOIN pg_catalog.pg_prepared_xacts AS p ON p.transaction OPERATOR(pg_catalog.=) t.transactionid
    WHERE h.pid IS NULL AND t.pid IS NULL AND t.virtualtransaction OPERATOR(pg_catalog.=) h.virtualtransaction
    LIMIT 1
) AS x ON true
WHERE h.pid IS NOT NULL OR x.gid IS NOT NULL
ORDER BY a.xact_start NULLS FIRST
LIMIT 5;
