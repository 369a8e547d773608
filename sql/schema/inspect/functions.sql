-- Those of a schema that have names of our functions, whose they are, and whether that is one of those
-- trusted.
-- $1 schema, $2 names, $3 trusted roles
SELECT
    p.proname::text,
    CASE WHEN p.proowner::int8 = ANY ($3::int8[]) THEN p.prosrc ELSE '' END,
    coalesce((
        SELECT s.description
        FROM pg_description AS s
        WHERE s.objoid = p.oid
            AND s.classoid = 'pg_proc'::regclass
            AND s.objsubid = 0
    ), ''),
    :readable(quote_ident(pg_get_userbyid(p.proowner))),
    p.proowner::int8 = ANY ($3::int8[])
FROM pg_proc AS p
JOIN pg_namespace AS n ON n.oid = p.pronamespace
WHERE n.nspname = $1
    AND p.proname = ANY ($2::name[])
