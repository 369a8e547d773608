-- Follows the role me (oid, rolsuper) in a WITH RECURSIVE: above are the roles that it is a member
-- of and makes use of, below those that can become it; each with itself. Since 16 a membership may
-- give no rights at all.
-- A membership that me or somebody trusted has not granted is none of above: whoever has a role to
-- give, and that is each role of itself up to 14, could give it to me, and be trusted.
membership AS (
    SELECT
        m.roleid,
        m.member,
        m.grantor,
        coalesce(o.inherits OR o.sets, true) AS uses,
        coalesce(o.inherits OR o.sets, true) OR m.admin_option AS becomes
    FROM pg_catalog.pg_auth_members AS m
    CROSS JOIN LATERAL (
        SELECT
            (pg_catalog.to_jsonb(m) OPERATOR(pg_catalog.->>) 'inherit_option')::pg_catalog.bool AS inherits, -- since 16
            (pg_catalog.to_jsonb(m) OPERATOR(pg_catalog.->>) 'set_option')::pg_catalog.bool AS sets
    ) AS o
),
below AS (
    SELECT me.oid
    FROM me
    UNION
    SELECT m.member
    FROM below
    JOIN membership AS m ON m.roleid OPERATOR(pg_catalog.=) below.oid AND m.becomes
),
creator AS ( -- of roles, who can become any but a superuser
    SELECT r.oid
    FROM pg_catalog.pg_roles AS r
    WHERE r.rolcreaterole
        AND pg_catalog.current_setting('server_version_num')::pg_catalog.int4 OPERATOR(pg_catalog.<) 160000
        AND EXISTS (SELECT FROM me WHERE NOT me.rolsuper)
),
above AS (
    SELECT me.oid
    FROM me
    UNION
    SELECT m.roleid
    FROM above
    JOIN membership AS m ON m.member OPERATOR(pg_catalog.=) above.oid AND m.uses
    WHERE m.grantor OPERATOR(pg_catalog.=) above.oid
        OR EXISTS (SELECT FROM pg_catalog.pg_roles AS g WHERE g.oid OPERATOR(pg_catalog.=) m.grantor AND g.rolsuper)
        OR EXISTS (SELECT FROM below WHERE below.oid OPERATOR(pg_catalog.=) m.grantor)
        OR EXISTS (SELECT FROM creator WHERE creator.oid OPERATOR(pg_catalog.=) m.grantor)
)
