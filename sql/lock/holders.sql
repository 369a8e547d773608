-- Open and prepared transactions that hold locks on the table, oldest first, and how to end each. A
-- change of ours may wait for one of them. As bytes, since some names cannot be sent as text. We
-- may not be allowed to see when a transaction of others has begun.
-- $1 schema, $2 table, $3 whether to return only those that a change of a row can wait for: first
-- those that have written to the table or to one that it refers to, then those that may have locked
-- rows
SELECT decode(replace(CASE
    WHEN h.pid IS NULL THEN concat(
        'prepared transaction ', quote_ident(x.gid),
        ' of role ' || quote_ident(x.owner),
        format(': ROLLBACK PREPARED %L', x.gid)
    )
    ELSE concat(
        'pid ', h.pid,
        ' of role ' || quote_ident(pg_get_userbyid(a.usesysid)),
        CASE WHEN a.application_name <> '' THEN format(' (%L)', a.application_name) END, -- anybody chooses it
        ', since ' || a.xact_start::timestamptz(0)::text,
        ': SELECT pg_terminate_backend(', h.pid, ')'
    )
END, E'\\', E'\\\\'), 'escape')
FROM (
    SELECT l.pid, l.virtualtransaction, $3::bool AND bool_and(l.mode = 'RowShareLock') AS rows_alone
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    JOIN pg_locks AS l ON l.relation = c.oid
        OR $3 AND l.relation = ANY (
            SELECT r.confrelid
            FROM pg_constraint AS r
            WHERE r.conrelid = c.oid
                AND r.contype = 'f'
        )
    WHERE n.nspname = $1::name
        AND c.relname = $2::name
        AND l.granted
        AND NOT ($3 AND l.mode = 'AccessShareLock')
        AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
        AND (l.pid IS NULL OR l.pid <> pg_backend_pid())
    GROUP BY l.pid, l.virtualtransaction
) AS h
LEFT JOIN LATERAL pg_stat_get_activity(coalesce(h.pid, 0)) AS a ON a.pid = h.pid
:prepared
WHERE h.pid IS NOT NULL OR x.gid IS NOT NULL
ORDER BY h.rows_alone, a.xact_start NULLS FIRST
LIMIT 5;
