-- Whom a role has reason to trust with what it runs: itself and superusers; the roles it is a
-- member of; and those that can become it anyway, which are its members and, before 16, whoever may
-- create roles, unless it is a superuser.
-- $1 role, $2 whether it trusts itself and superusers alone
WITH RECURSIVE me AS (
    SELECT r.oid, r.rolsuper
    FROM pg_catalog.pg_roles AS r
    WHERE r.rolname OPERATOR(pg_catalog.=) $1::pg_catalog.text
),
:memberships
SELECT r.oid::pg_catalog.int8
FROM pg_catalog.pg_roles AS r
WHERE r.rolsuper
    OR EXISTS (SELECT FROM me WHERE me.oid OPERATOR(pg_catalog.=) r.oid)
    OR NOT $2::pg_catalog.bool
    AND (
        EXISTS (SELECT FROM above WHERE above.oid OPERATOR(pg_catalog.=) r.oid)
        OR EXISTS (SELECT FROM below WHERE below.oid OPERATOR(pg_catalog.=) r.oid)
        OR EXISTS (SELECT FROM creator WHERE creator.oid OPERATOR(pg_catalog.=) r.oid)
    );
