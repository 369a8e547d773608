-- Whom a role has reason to trust with what it runs: itself and superusers; the roles it is a
-- member of; and those that can become it anyway, which are its members and, before 16, whoever may
-- create roles, unless it is a superuser.
-- $1 role, $2 whether it trusts itself and superusers alone
WITH RECURSIVE membership AS (
    SELECT m.roleid, m.member, coalesce(o.inherits OR o.sets, true) AS uses, coalesce(o.inherits OR o.sets, true) OR m.admin_option AS becomes
    FROM pg_catalog.pg_auth_members AS m
    CROSS JOIN LATERAL (
        SELECT (pg_catalog.to_jsonb(m) OPERATOR(pg_catalog.->>) 'inherit_option')::pg_catalog.bool AS inherits, -- since 16
            (pg_catalog.to_jsonb(m) OPERATOR(pg_catalog.->>) 'set_option')::pg_catalog.bool AS sets
    ) AS o
), me AS (
    SELECT r.oid, r.rolsuper
    FROM pg_catalog.pg_roles AS r
    WHERE r.rolname OPERATOR(pg_catalog.=) $1::pg_catalog.text
), above AS (
    SELECT me.oid
    FROM me
    UNION
    SELECT m.roleid
    FROM above
    JOIN membership AS m ON m.member OPERATOR(pg_catalog.=) above.oid AND m.uses
), below AS (
    SELECT me.oid
    FROM me
    UNION
    SELECT m.member
    FROM below
    JOIN membership AS m ON m.roleid OPERATOR(pg_catalog.=) below.oid AND m.becomes
)
SELECT r.oid::pg_catalog.int8
FROM pg_catalog.pg_roles AS r
WHERE r.rolsuper
    OR EXISTS (SELECT FROM me WHERE me.oid OPERATOR(pg_catalog.=) r.oid)
    OR NOT $2::pg_catalog.bool
    AND (
        EXISTS (SELECT FROM above WHERE above.oid OPERATOR(pg_catalog.=) r.oid)
        OR EXISTS (SELECT FROM below WHERE below.oid OPERATOR(pg_catalog.=) r.oid)
        OR r.rolcreaterole
        AND pg_catalog.current_setting('server_version_num')::pg_catalog.int4 OPERATOR(pg_catalog.<) 160000
        AND EXISTS (SELECT FROM me WHERE NOT me.rolsuper)
    );
