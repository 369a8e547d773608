-- Those that our functions are: no others of their names count, and none of whom is not trusted.
-- $1 schema, $2 names of those without parameters, $3 of those that take the type $4, $5 trusted
-- roles
SELECT
    p.proname::text,
    p.prosrc,
    coalesce((
        SELECT s.description
        FROM pg_description AS s
        WHERE s.objoid = p.oid
            AND s.classoid = 'pg_proc'::regclass
            AND s.objsubid = 0
    ), '')
FROM pg_proc AS p
JOIN pg_namespace AS n ON n.oid = p.pronamespace
WHERE n.nspname = $1
    AND p.proowner::int8 = ANY ($5::int8[])
    AND (
        p.proname = ANY ($2::name[]) AND p.pronargs = 0
        OR p.proname = ANY ($3::name[])
        AND EXISTS (
            SELECT
            FROM pg_type AS t
            WHERE t.oid = ANY (p.proargtypes)
                AND t.typnamespace = n.oid
                AND t.typname = $4::name
        )
    );
