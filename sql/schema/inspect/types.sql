-- What has the name of the type that our functions take, or one that the state's type could have.
-- Of an enum, which of our labels it has, if its owner is trusted: a stranger's may have any number.
-- Then whether its owner is trusted, and with it the casts; and who else may use the type that our
-- functions take, whether the table's owner may not, though we may let them, and whether it has
-- constraints.
-- $1 schema, $2 type of the column, $3 trusted roles, $4 type that our functions take, $5 labels,
-- $6 the role that serves, $7 the table
SELECT
    :readable(t.typname::text),
    t.oid::int8,
    t.typtype = 'e',
    ARRAY(
        SELECT e.enumlabel::text
        FROM pg_enum AS e
        WHERE e.enumtypid = t.oid
            AND e.enumlabel = ANY ($5::name[])
            AND trust.given
        ORDER BY e.enumsortorder
    ),
    trust.given
    AND NOT EXISTS ( -- as in owners.sql
        SELECT
        FROM pg_cast AS c
        JOIN pg_proc AS p ON p.oid = c.castfunc
        JOIN pg_type AS s ON s.oid = c.castsource
        JOIN pg_type AS o ON o.oid = c.casttarget
        WHERE t.oid = ANY (ARRAY[s.oid, o.oid])
            AND s.typowner::int8 = ANY ($3::int8[])
            AND o.typowner::int8 = ANY ($3::int8[])
            AND p.proowner::int8 <> ALL ($3::int8[])
    ),
    ARRAY(
        SELECT CASE WHEN r.oid IS NULL THEN 'PUBLIC' ELSE :readable(quote_ident(r.rolname)) END
        FROM aclexplode(coalesce(t.typacl, acldefault('T', t.typowner))) AS g
        LEFT JOIN pg_roles AS r ON r.oid = g.grantee
        WHERE t.typname = $4::name
            AND trust.given
            AND g.grantee <> t.typowner
            AND NOT g.grantee::int8 = ANY ($3::int8[])
            AND (r.rolname = $6::name) IS NOT TRUE
        GROUP BY r.oid, r.rolname
        ORDER BY r.rolname
    ),
    t.typname = $4::name AND pg_has_role(t.typowner, 'USAGE') AND EXISTS (
        SELECT
        FROM pg_class AS c
        WHERE c.oid = $7::int8::oid
            AND NOT has_type_privilege(c.relowner, t.oid, 'USAGE')
    ),
    t.typname = $4::name AND trust.given
        AND EXISTS (SELECT FROM pg_constraint AS k WHERE k.contypid = t.oid)
FROM pg_type AS t
LEFT JOIN pg_namespace AS n ON n.oid = t.typnamespace
CROSS JOIN LATERAL (SELECT t.typowner::int8 = ANY ($3::int8[]) AS given) AS trust
WHERE n.nspname = $1
    AND (t.typname ~ '^(state|pgtaskd_state(_[1-9][0-9]{0,2})?)$' OR t.typname = $4::name)
    OR t.oid = $2::int8::oid;
