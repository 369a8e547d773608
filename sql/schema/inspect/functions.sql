-- Those with the names of ours.
SELECT p.proname::pg_catalog.text, p.prosrc, coalesce(pg_catalog.obj_description(p.oid, 'pg_proc'), '')
FROM pg_catalog.pg_proc AS p
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
WHERE n.nspname OPERATOR(pg_catalog.=) $1
    AND p.pronargs OPERATOR(pg_catalog.=) 0
    AND p.proname OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.text[]);
