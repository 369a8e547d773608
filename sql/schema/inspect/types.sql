-- What has the name of the type that our functions take, or one that the state's type could have,
-- with its labels if it is an enum; and whether its owner is trusted, and with it the casts.
-- $1 schema, $2 type of the column, $3 trusted roles, $4 type that our functions take
SELECT
    :readable(t.typname::pg_catalog.text),
    t.oid::pg_catalog.int8,
    t.typtype OPERATOR(pg_catalog.=) 'e',
    ARRAY(SELECT :readable(e.enumlabel::pg_catalog.text) FROM pg_catalog.pg_enum AS e WHERE e.enumtypid OPERATOR(pg_catalog.=) t.oid ORDER BY e.enumsortorder),
    t.typowner::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY ($3::pg_catalog.int8[])
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
    )
FROM pg_catalog.pg_type AS t
LEFT JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) t.typnamespace
WHERE n.nspname OPERATOR(pg_catalog.=) $1 AND (t.typname OPERATOR(pg_catalog.=) 'state' OR t.typname OPERATOR(pg_catalog.~~) E'pgtaskd\\_state%' OR t.typname OPERATOR(pg_catalog.=) $4::pg_catalog.name)
    OR t.oid OPERATOR(pg_catalog.=) $2::pg_catalog.int8::pg_catalog.oid;
