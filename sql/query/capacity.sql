-- How many connections there may be: the server, by what tells it from others; all of them that the
-- role can have; those of the role, and of the database; -1: any.
-- The role's own limit, and the database's, do not hold for a superuser.
SELECT concat(pg_postmaster_start_time(), ' ', current_setting('port'), ' ', current_setting('server_version')),
    current_setting('max_connections')::int4
        - CASE WHEN r.rolsuper THEN 0 ELSE current_setting('superuser_reserved_connections')::int4 END
        - CASE WHEN r.rolsuper OR reserve.granted THEN 0 ELSE coalesce(current_setting('reserved_connections', true)::int4, 0) END,
    CASE WHEN r.rolsuper THEN -1 ELSE r.rolconnlimit END,
    CASE WHEN r.rolsuper THEN -1 ELSE d.datconnlimit END
FROM pg_roles AS r
CROSS JOIN pg_database AS d
CROSS JOIN LATERAL (
    SELECT EXISTS (
        SELECT FROM pg_roles AS g
        WHERE g.rolname = 'pg_use_reserved_connections'
            AND pg_has_role(r.oid, g.oid, 'USAGE')
    ) AS granted
) AS reserve
WHERE r.rolname = current_user
    AND d.datname = current_database()
