-- Whom a role has reason to trust with what it runs: itself and superusers; the roles it is a
-- member of; and those that can become it anyway, which are its members and, before 16, whoever may
-- create roles, unless it is a superuser.
-- $1 role, $2 whether it trusts itself and superusers alone, $3 whether tasks run under the roles that
-- insert them, as they do anyway where the table of schema $4 and name $5 says so
WITH RECURSIVE me AS (
    SELECT r.oid, r.rolsuper, $3::bool OR EXISTS (
        SELECT
        FROM pg_namespace AS n
        JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = $5::name
        JOIN pg_trigger AS g ON g.tgrelid = c.oid AND g.tgname = 'pgtaskd_role'
        WHERE n.nspname = $4::name
    ) AS inserters
    FROM pg_roles AS r
    WHERE r.rolname = $1::text
),
:memberships
SELECT r.oid::int8
FROM pg_roles AS r
WHERE r.rolsuper
    OR EXISTS (SELECT FROM me WHERE me.oid = r.oid)
    OR NOT $2::bool
    AND (
        EXISTS (SELECT FROM above WHERE above.oid = r.oid)
        OR EXISTS (SELECT FROM below WHERE below.oid = r.oid)
        OR EXISTS (SELECT FROM creator WHERE creator.oid = r.oid)
    );
