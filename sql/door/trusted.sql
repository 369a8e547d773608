-- Trusted roles, each with the reason that a person should know ('' if it is obvious). PUBLIC has
-- the number 0.
-- $1 the serving role, $2 the names in "trust", $3 the table and its parts, $4 the name of its
-- trigger function, $5 its schema, $6 whether tasks run under the roles that insert them, $7 the
-- login of the serving role
WITH RECURSIVE named (oid, why) AS (
    SELECT oid, '' FROM pg_roles WHERE rolsuper OR rolname IN ($1::name, $7::name, 'pg_database_owner') OR rolname = ANY ($2::text[])
    UNION ALL
    SELECT d.datdba, 'owns the database'
    FROM pg_database AS d
    WHERE d.datname = current_database()
        AND NOT EXISTS (SELECT FROM pg_roles WHERE rolsuper AND rolname IN ($1, $7))
    UNION ALL
    SELECT oid, 'has CREATEROLE, which makes a member of any role before PostgreSQL 16'
    FROM pg_roles
    WHERE rolcreaterole AND :plain_memberships
),
member (role, oid, why) AS ( -- since 16 a membership may give nothing
    SELECT m.roleid, m.member, 'can become role ' || quote_ident(pg_get_userbyid(m.roleid)) COLLATE "default"
    FROM pg_auth_members AS m
    WHERE m.admin_option
        OR coalesce((to_jsonb(m) ->> 'set_option')::bool, true)
        OR coalesce((to_jsonb(m) ->> 'inherit_option')::bool, true)
),
strong (oid, why) AS (
    SELECT oid, why FROM named
    UNION
    SELECT m.oid, m.why FROM strong JOIN member AS m ON m.role = strong.oid
),
writer (oid, why) AS ( -- roles whose SQL runs as the serving role, because a trusted owner allows it
    SELECT a.grantee, 'may write input, on_fail or settings of ' || c.oid::regclass
    FROM pg_class AS c
    CROSS JOIN LATERAL (
        SELECT grantee, privilege_type FROM aclexplode(c.relacl)
        UNION ALL
        SELECT x.grantee, x.privilege_type
        FROM pg_attribute AS t
        CROSS JOIN LATERAL aclexplode(t.attacl) AS x
        WHERE t.attrelid = c.oid AND t.attname IN ('input', 'on_fail', 'settings')
    ) AS a
    WHERE c.oid::int8 = ANY ($3::int8[]) AND a.privilege_type IN ('INSERT', 'UPDATE') AND a.grantee <> c.relowner AND c.relowner IN (SELECT oid FROM strong)
    UNION
    SELECT a.grantee, 'may call ' || p.oid::regprocedure
    FROM pg_proc AS p
    CROSS JOIN LATERAL aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a
    WHERE p.proname = $4::text AND p.pronamespace = $5::oid AND p.pronargs = 0 AND p.prosecdef AND a.grantee <> p.proowner AND p.proowner IN (SELECT oid FROM strong)
),
equal (oid, why) AS (
    SELECT oid, why
    FROM writer
    WHERE NOT $6::bool AND CASE oid WHEN 0 THEN has_schema_privilege('public', $5::oid, 'USAGE') ELSE has_schema_privilege(oid, $5::oid, 'USAGE') END
    UNION
    SELECT oid, 'may write all tables' FROM pg_roles WHERE NOT $6::bool AND rolname = 'pg_write_all_data'
    UNION
    SELECT m.oid, m.why FROM equal JOIN member AS m ON m.role = equal.oid
)
SELECT t.oid::int8, coalesce(r.rolname::text, 'PUBLIC'), t.why
FROM (SELECT oid, why FROM strong UNION SELECT oid, why FROM equal) AS t
LEFT JOIN pg_roles AS r ON r.oid = t.oid
ORDER BY 2, 3
