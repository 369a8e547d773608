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
    AND p.pronargs OPERATOR(pg_catalog.=) 0
    AND p.proname OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.text[]);
