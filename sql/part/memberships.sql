-- Follows the role me (oid, rolsuper, inserters) in a WITH RECURSIVE: above are the roles that it is a member
-- of and makes use of, below those that can become it; each with itself. Since 16 a membership has
-- options, and may give no rights at all: who becomes a role by SET ROLE has what that one inherits, but
-- who inherits from a role does not become what that one can. So SET counts up to some role on the
-- way, and INHERIT from there on; way is the option by which the next step counts.
-- A membership that me or somebody trusted has not granted is none of above: whoever has a role to
-- give, and that is each role of itself up to 14, could give it to me, and be trusted. Nor is a role
-- of the server's own, such as pg_monitor: it is given for what it may do, and whoever else has it
-- can make things that belong to it. Where tasks run under the roles that insert them (inserters), me
-- is a member of these only to log in as them, so none counts: not even one that can't log in, as
-- that is how somebody is shut out.
below AS (
    SELECT me.oid, w.way
    FROM me
    CROSS JOIN (VALUES ('set'), ('inherit')) AS w (way)
    UNION
    SELECT m.member, w.way
    FROM below
    CROSS JOIN (VALUES ('set'), ('inherit')) AS w (way)
    CROSS JOIN LATERAL (
        SELECT g.member, g.admin_option, to_jsonb(g) AS options
        FROM pg_auth_members AS g
        WHERE g.roleid = below.oid
        OFFSET 0 -- there may be many more, which are not read
    ) AS m
    WHERE m.admin_option -- which lets it grant itself the rest
        OR (below.way = 'inherit' OR w.way = 'set')
        AND coalesce((m.options ->> concat(below.way, '_option'))::bool, true)
),
creator AS ( -- of roles, who can become any but a superuser
    SELECT r.oid
    FROM pg_roles AS r
    WHERE r.rolcreaterole
        AND current_setting('server_version_num')::int4 < 160000
        AND EXISTS (SELECT FROM me WHERE NOT me.rolsuper)
),
above AS (
    SELECT me.oid, w.way
    FROM me
    CROSS JOIN (VALUES ('set'), ('inherit')) AS w (way)
    UNION
    SELECT m.roleid, w.way
    FROM above
    CROSS JOIN (VALUES ('set'), ('inherit')) AS w (way)
    CROSS JOIN LATERAL (
        SELECT g.roleid, g.grantor, to_jsonb(g) AS options
        FROM pg_auth_members AS g
        WHERE g.member = above.oid
        OFFSET 0 -- there may be many more, which are not read
    ) AS m
    WHERE (above.way = 'set' OR w.way = 'inherit')
        AND coalesce((m.options ->> concat(above.way, '_option'))::bool, true)
    AND (
        m.roleid >= 16384::oid
        OR EXISTS (SELECT FROM pg_roles AS g WHERE g.oid = m.roleid AND g.rolsuper)
    ) AND NOT EXISTS (SELECT FROM me WHERE me.inserters) AND (
        m.grantor = above.oid
        OR EXISTS (SELECT FROM pg_roles AS g WHERE g.oid = m.grantor AND g.rolsuper)
        OR EXISTS (SELECT FROM below WHERE below.oid = m.grantor)
        OR EXISTS (SELECT FROM creator WHERE creator.oid = m.grantor)
    )
)
