-- Those with the names of ours.
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
    AND p.proname OPERATOR(pg_catalog.=) ANY (ARRAY(
        SELECT pg_catalog.split_part(s.signature, ' ', 1)::pg_catalog.name
        FROM pg_catalog.unnest($2::pg_catalog.text[]) AS s (signature)
    ))
    AND pg_catalog.concat(p.proname, ' ', p.proargtypes) OPERATOR(pg_catalog.=) ANY ($2);
