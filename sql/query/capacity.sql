-- How many connections there may be: the server, by what tells it from others; all of them that the
-- role can have; those of the role, and of the database; -1: any.
-- The role's own limit, and the database's, do not hold for a superuser.
SELECT pg_catalog.concat(pg_catalog.pg_postmaster_start_time(), ' ', pg_catalog.current_setting('port'), ' ', pg_catalog.current_setting('server_version')),
    pg_catalog.current_setting('max_connections')::pg_catalog.int4
        OPERATOR(pg_catalog.-) CASE WHEN r.rolsuper THEN 0 ELSE pg_catalog.current_setting('superuser_reserved_connections')::pg_catalog.int4 END
        OPERATOR(pg_catalog.-) CASE WHEN r.rolsuper OR reserve.granted THEN 0 ELSE coalesce(pg_catalog.current_setting('reserved_connections', true)::pg_catalog.int4, 0) END,
    CASE WHEN r.rolsuper THEN -1 ELSE r.rolconnlimit END,
    CASE WHEN r.rolsuper THEN -1 ELSE d.datconnlimit END
FROM pg_catalog.pg_roles AS r
CROSS JOIN pg_catalog.pg_database AS d
CROSS JOIN LATERAL (
    SELECT EXISTS (
        SELECT FROM pg_catalog.pg_roles AS g
        WHERE g.rolname OPERATOR(pg_catalog.=) 'pg_use_reserved_connections'
            AND pg_catalog.pg_has_role(r.oid, g.oid, 'USAGE')
    ) AS granted
) AS reserve
WHERE r.rolname OPERATOR(pg_catalog.=) current_user
    AND d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
