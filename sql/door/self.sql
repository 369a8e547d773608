-- The role that serves the table, and the relation with the table's name: one row.
-- $1 schema, $2 table, $3 the role as which the target is served ('': the session's user)
SELECT
    login.rolname::text AS login,
    me.rolname::text AS role,
    me.rolsuper OR login.rolsuper AS superuser, -- RESET ROLE leads back to the login
    coalesce(n.oid, 0)::int8 AS schema,
    coalesce(c.oid, 0)::int8 AS relation,
    coalesce(c.relkind::text, '') AS kind,
    coalesce(pg_get_userbyid(c.relowner)::text, '') AS owner
FROM pg_roles AS login
JOIN pg_database AS d ON d.datname = current_database()
JOIN pg_roles AS me ON me.rolname = coalesce(nullif(( -- the role that sessions of this login take
    SELECT substr(s.setting, length('role=') + 1)
    FROM pg_db_role_setting AS g
    CROSS JOIN LATERAL unnest(g.setconfig) AS s (setting)
    WHERE g.setrole IN (0, login.oid)
        AND g.setdatabase IN (0, d.oid)
        AND s.setting LIKE 'role=%'
    ORDER BY g.setrole = 0, g.setdatabase = 0
    LIMIT 1
), 'none'), login.rolname::text)
LEFT JOIN pg_namespace AS n ON n.nspname = $1::text
LEFT JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = $2::text
WHERE login.rolname = coalesce(nullif($3::text, ''), session_user::text)
