-- What has the name of the type that our functions take, or one that the state's type could have.
-- Of an enum, which of our labels it has, if its owner is trusted: a stranger's may have any number.
-- Then whether its owner is trusted, and with it the casts; and who else may use the type that our
-- functions take, whether the table's owner may not, though we may let them, and whether it has
-- constraints.
-- $1 schema, $2 type of the column, $3 trusted roles, $4 type that our functions take, $5 labels,
-- $6 the role that serves, $7 the table
SELECT
    :readable(t.typname::pg_catalog.text),
    t.oid::pg_catalog.int8,
    t.typtype OPERATOR(pg_catalog.=) 'e',
    ARRAY(
        SELECT e.enumlabel::pg_catalog.text
        FROM pg_catalog.pg_enum AS e
        WHERE e.enumtypid OPERATOR(pg_catalog.=) t.oid
            AND e.enumlabel OPERATOR(pg_catalog.=) ANY ($5::pg_catalog.name[])
            AND trust.given
        ORDER BY e.enumsortorder
    ),
    trust.given
    AND NOT EXISTS ( -- as in owners.sql
        SELECT
        FROM pg_catalog.pg_cast AS c
        JOIN pg_catalog.pg_proc AS p ON p.oid OPERATOR(pg_catalog.=) c.castfunc
        JOIN pg_catalog.pg_type AS s ON s.oid OPERATOR(pg_catalog.=) c.castsource
        JOIN pg_catalog.pg_type AS o ON o.oid OPERATOR(pg_catalog.=) c.casttarget
        WHERE t.oid OPERATOR(pg_catalog.=) ANY (ARRAY[s.oid, o.oid])
            AND s.typowner::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY ($3::pg_catalog.int8[])
            AND o.typowner::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY ($3::pg_catalog.int8[])
            AND p.proowner::pg_catalog.int8 OPERATOR(pg_catalog.<>) ALL ($3::pg_catalog.int8[])
    ),
    ARRAY(
        SELECT CASE WHEN r.oid IS NULL THEN 'PUBLIC' ELSE :readable(pg_catalog.quote_ident(r.rolname)) END
        FROM pg_catalog.aclexplode(coalesce(t.typacl, pg_catalog.acldefault('T', t.typowner))) AS g
        LEFT JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) g.grantee
        WHERE t.typname OPERATOR(pg_catalog.=) $4::pg_catalog.name
            AND trust.given
            AND g.grantee OPERATOR(pg_catalog.<>) t.typowner
            AND NOT g.grantee::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY ($3::pg_catalog.int8[])
            AND (r.rolname OPERATOR(pg_catalog.=) $6::pg_catalog.name) IS NOT TRUE
        GROUP BY r.oid, r.rolname
        ORDER BY r.rolname
    ),
    t.typname OPERATOR(pg_catalog.=) $4::pg_catalog.name AND pg_catalog.pg_has_role(t.typowner, 'USAGE') AND EXISTS (
        SELECT
        FROM pg_catalog.pg_class AS c
        WHERE c.oid OPERATOR(pg_catalog.=) $7::pg_catalog.int8::pg_catalog.oid
            AND NOT pg_catalog.has_type_privilege(c.relowner, t.oid, 'USAGE')
    ),
    t.typname OPERATOR(pg_catalog.=) $4::pg_catalog.name AND trust.given
        AND EXISTS (SELECT FROM pg_catalog.pg_constraint AS k WHERE k.contypid OPERATOR(pg_catalog.=) t.oid)
FROM pg_catalog.pg_type AS t
LEFT JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) t.typnamespace
CROSS JOIN LATERAL (SELECT t.typowner::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY ($3::pg_catalog.int8[]) AS given) AS trust
WHERE n.nspname OPERATOR(pg_catalog.=) $1
    AND (t.typname OPERATOR(pg_catalog.~) '^(state|pgtaskd_state(_[1-9][0-9]{0,2})?)$' OR t.typname OPERATOR(pg_catalog.=) $4::pg_catalog.name)
    OR t.oid OPERATOR(pg_catalog.=) $2::pg_catalog.int8::pg_catalog.oid;
