-- The sessions of controllers of the table: that of the leader, and those which have the name of
-- one and whose role could serve the table. Where the role may not see from where a session comes
-- and since when, that is NULL.
-- $1 the leader's process id, $2 the name, $3 schema, $4 table
SELECT
    a.pid,
    a.pid OPERATOR(pg_catalog.=) $1::pg_catalog.int4,
    coalesce(pg_catalog.host(a.client_addr), a.client_hostname, CASE WHEN a.client_port OPERATOR(pg_catalog.=) -1 THEN 'local' END, ''),
    a.backend_start::pg_catalog.text,
    coalesce(pg_catalog.date_part('epoch', pg_catalog.statement_timestamp() OPERATOR(pg_catalog.-) a.backend_start), 0)
FROM pg_catalog.pg_stat_activity AS a
JOIN pg_catalog.pg_namespace AS n ON n.nspname OPERATOR(pg_catalog.=) $3::pg_catalog.text
JOIN pg_catalog.pg_class AS c ON c.relnamespace OPERATOR(pg_catalog.=) n.oid AND c.relname OPERATOR(pg_catalog.=) $4::pg_catalog.text
WHERE a.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
    AND (
        a.pid OPERATOR(pg_catalog.=) $1::pg_catalog.int4
        OR a.application_name OPERATOR(pg_catalog.=) $2::pg_catalog.text
        AND coalesce(a.backend_type, 'client backend') OPERATOR(pg_catalog.=) 'client backend'
        AND pg_catalog.has_table_privilege(a.usesysid, c.oid, 'UPDATE')
    )
ORDER BY a.pid
