-- Where the table is, and what else may show whether it is a copy: whether a subscription writes it,
-- and whether the table of controllers can be read. The server shows its directory to few roles.
-- $1 schema, $2 table
SELECT
    d.datname::text,
    d.oid::int8,
    c.oid::int8,
    current_setting('server_version_num')::int4 / 10000,
    pg_postmaster_start_time(),
    coalesce((SELECT s.setting FROM pg_settings AS s WHERE s.name = 'data_directory'), ''),
    coalesce(current_setting('neon.timeline_id', true), ''),
    EXISTS (SELECT FROM pg_subscription_rel AS s WHERE s.srrelid = c.oid),
    coalesce((
        SELECT has_table_privilege(l.oid, 'SELECT')
        FROM pg_class AS l
        WHERE l.relnamespace = n.oid
            AND l.relname = :leader_name
            AND l.relkind = 'r'
    ), false)
FROM pg_namespace AS n
JOIN pg_class AS c ON c.relnamespace = n.oid
JOIN pg_database AS d ON d.datname = current_database()
WHERE n.nspname = $1
    AND c.relname = $2
