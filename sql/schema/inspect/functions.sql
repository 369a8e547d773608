-- The functions of a schema that have our names.
-- $1 schema, $2 names
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
    AND p.proname = ANY ($2::name[])
