-- Whom a role has reason to trust with what it runs: itself and superusers; the roles it is a
-- member of; and those that can become it anyway, which are its members and, before 16, whoever may
-- create roles, unless it is a superuser.
-- $1 role, $2 whether it trusts itself and superusers alone, $3 whether tasks run under the roles that
-- insert them, as they do anyway where the table of schema $4 and name $5 says so
WITH RECURSIVE me AS (
    SELECT r.oid, r.rolsuper, $3::pg_catalog.bool OR EXISTS (
        SELECT
        FROM pg_catalog.pg_namespace AS n
        JOIN pg_catalog.pg_class AS c ON c.relnamespace OPERATOR(pg_catalog.=) n.oid AND c.relname OPERATOR(pg_catalog.=) $5::pg_catalog.name
        JOIN pg_catalog.pg_trigger AS g ON g.tgrelid OPERATOR(pg_catalog.=) c.oid AND g.tgname OPERATOR(pg_catalog.=) 'pgtaskd_role'
        WHERE n.nspname OPERATOR(pg_catalog.=) $4::pg_catalog.name
    ) AS inserters
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
