-- The sessions of the table's controllers: the leader's, and those with a controller's name whose
-- role could serve the table. Address and start are empty if the role may not see them.
-- $1 the leader's process id, $2 the name, $3 schema, $4 table
SELECT
    a.pid,
    a.pid = $1::int4,
    coalesce(host(a.client_addr), a.client_hostname, CASE WHEN a.client_port = -1 THEN 'local' END, ''),
    coalesce(a.backend_start::text, ''),
    coalesce(date_part('epoch', statement_timestamp() - a.backend_start), 0)
FROM pg_stat_activity AS a
JOIN pg_namespace AS n ON n.nspname = $3::text
JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = $4::text
WHERE a.datname = current_database()
    AND (
        a.pid = $1::int4
        OR a.application_name = $2::text
        AND coalesce(a.backend_type, 'client backend') = 'client backend'
        AND has_table_privilege(a.usesysid, c.oid, 'UPDATE')
    )
ORDER BY a.pid
