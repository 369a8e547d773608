-- Untrusted roles that may create objects where the names of pgtaskd and of tasks are looked up, or
-- that get rights to tables made later.
-- $1 the serving role, $2 the table's schema, $3 the schemas of the serving role's search_path, $4
-- trusted roles
WITH place AS (
    SELECT CASE oid WHEN $2::oid THEN 'schema' ELSE 'path' END AS part, nspname AS name, nspowner AS owner, nspacl AS acl
    FROM pg_namespace
    WHERE oid = $2::oid OR nspname = ANY ($3::text[])
),
here AS (
    SELECT datname AS name, datdba AS owner, datacl AS acl FROM pg_database WHERE datname = current_database()
)
SELECT p.way, p.part, coalesce(w.rolname::text, 'PUBLIC'), p.what, replace(p.mend, '@who', coalesce(quote_ident(w.rolname), 'PUBLIC'))
FROM (
    SELECT 'owns' AS way, part, owner AS who, format('schema %I', name) AS what, format('ALTER SCHEMA %I OWNER TO %I', name, $1::text) AS mend
    FROM place
    UNION ALL
    SELECT 'may CREATE in', p.part, a.grantee, format('schema %I', p.name), format('REVOKE CREATE ON SCHEMA %I FROM @who', p.name)
    FROM place AS p
    CROSS JOIN LATERAL aclexplode(p.acl) AS a
    WHERE a.privilege_type = 'CREATE' AND a.grantee <> p.owner
    UNION ALL
    SELECT 'owns', 'database', owner, format('database %I', name), format('ALTER DATABASE %I OWNER TO %I', name, $1::text)
    FROM here
    UNION ALL
    SELECT format('may CREATE schema %I in', s.name), 'path', a.grantee, format('database %I', h.name), format('CREATE SCHEMA %I AUTHORIZATION %I', s.name, $1::text)
    FROM here AS h
    CROSS JOIN LATERAL aclexplode(h.acl) AS a
    CROSS JOIN unnest($3::text[]) AS s (name)
    WHERE a.privilege_type = 'CREATE' AND a.grantee <> h.owner AND NOT EXISTS (SELECT FROM place AS p WHERE p.name = s.name)
    UNION ALL
    SELECT
        'gets ' || string_agg(DISTINCT a.privilege_type, ', ') || ' on',
        'default',
        a.grantee,
        format('tables that role %I makes', pg_get_userbyid(d.defaclrole)) || coalesce(' in schema ' || quote_ident(n.nspname), ''),
        format(
            'ALTER DEFAULT PRIVILEGES FOR ROLE %I%s REVOKE %s ON TABLES FROM @who',
            pg_get_userbyid(d.defaclrole), ' IN SCHEMA ' || quote_ident(n.nspname), string_agg(DISTINCT a.privilege_type, ', ')
        )
    FROM pg_default_acl AS d
    LEFT JOIN pg_namespace AS n ON n.oid = d.defaclnamespace
    CROSS JOIN LATERAL aclexplode(d.defaclacl) AS a
    WHERE d.defaclobjtype = 'r'
        AND d.defaclnamespace IN (0, $2::oid)
        AND d.defaclrole::int8 = ANY ($4::int8[])
        AND a.privilege_type IN ('TRIGGER', 'REFERENCES')
        AND a.grantee <> d.defaclrole
    GROUP BY a.grantee, d.defaclrole, n.nspname
) AS p
LEFT JOIN pg_roles AS w ON w.oid = p.who
WHERE p.who::int8 <> ALL ($4::int8[])
ORDER BY 3, 4
