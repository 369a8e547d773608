-- Those with the names of ours, and their arguments: only pgtaskd_cron has one.
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
    AND p.proargtypes OPERATOR(pg_catalog.=) CASE WHEN pg_catalog.left(p.proname::pg_catalog.text, 13) OPERATOR(pg_catalog.=) 'pgtaskd_cron_' THEN '25' ELSE '' END::pg_catalog.oidvector
    AND p.proname OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.text[]);
