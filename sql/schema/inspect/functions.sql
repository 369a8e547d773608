-- Those that our functions are: no others of their names count, and none of whom is not trusted.
-- $1 schema, $2 names of those without parameters, $3 of those that take the type $4, $5 trusted
-- roles
SELECT
    p.proname::pg_catalog.text,
    p.prosrc,
    coalesce((
        SELECT s.description
        FROM pg_catalog.pg_description AS s
        WHERE s.objoid OPERATOR(pg_catalog.=) p.oid
            AND s.classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass
            AND s.objsubid OPERATOR(pg_catalog.=) 0
    ), '')
FROM pg_catalog.pg_proc AS p
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
WHERE n.nspname OPERATOR(pg_catalog.=) $1
    AND p.proowner::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY ($5::pg_catalog.int8[])
    AND (
        p.proname OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.name[]) AND p.pronargs OPERATOR(pg_catalog.=) 0
        OR p.proname OPERATOR(pg_catalog.=) ANY ($3::pg_catalog.name[])
        AND EXISTS (
            SELECT
            FROM pg_catalog.pg_type AS t
            WHERE t.oid OPERATOR(pg_catalog.=) ANY (p.proargtypes)
                AND t.typnamespace OPERATOR(pg_catalog.=) n.oid
                AND t.typname OPERATOR(pg_catalog.=) $4::pg_catalog.name
        )
    );
