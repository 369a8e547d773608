-- Rights of untrusted roles to the relations by which their code could run, or by which they could
-- change rows that only pgtaskd may change.
-- $1 relations, $2 what each is to the table, $3 trusted roles
SELECT
    'has ' || g.rights || ' on',
    r.part,
    g.name,
    CASE c.relkind WHEN 'S' THEN 'sequence ' WHEN 'v' THEN 'view ' ELSE 'table ' END || r.oid::regclass,
    format('REVOKE %s ON %s FROM %s', g.rights, CASE c.relkind WHEN 'S' THEN 'SEQUENCE ' ELSE '' END || r.oid::regclass, g.quoted)
FROM unnest($1::oid[], $2::text[]) AS r (oid, part)
JOIN pg_class AS c ON c.oid = r.oid
CROSS JOIN LATERAL (
    SELECT
        coalesce(max(w.rolname)::text, 'PUBLIC') AS name,
        coalesce(quote_ident(max(w.rolname)), 'PUBLIC') AS quoted,
        string_agg(DISTINCT a.privilege_type, ', ') AS rights
    FROM (
        SELECT x.grantee, x.privilege_type FROM aclexplode(c.relacl) AS x
        UNION ALL
        SELECT x.grantee, x.privilege_type
        FROM pg_attribute AS t
        CROSS JOIN LATERAL aclexplode(t.attacl) AS x
        WHERE t.attrelid = c.oid
            AND NOT t.attisdropped
    ) AS a
    LEFT JOIN pg_roles AS w ON w.oid = a.grantee
    WHERE a.grantee <> c.relowner
        AND a.grantee::int8 <> ALL ($3::int8[])
        AND CASE
            WHEN c.relkind = 'S' THEN a.privilege_type = 'UPDATE'
            WHEN r.part IN ('above', 'register')
                THEN a.privilege_type IN ('TRIGGER', 'REFERENCES', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE')
            ELSE a.privilege_type IN ('TRIGGER', 'REFERENCES')
        END
    GROUP BY a.grantee
) AS g
ORDER BY 3, 4
