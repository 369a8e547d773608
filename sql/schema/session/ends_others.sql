-- Is an error unless the function that writes the ends of others' tasks is that of the number: a
-- stranger's, which has its name since the schema was renamed, would learn the token. Whoever reads a
-- catalog takes in before what others have changed.
SELECT CASE
    WHEN coalesce(pg_catalog.to_regprocedure(:signature)::pg_catalog.oid::pg_catalog.int8 OPERATOR(pg_catalog.=) :number, false) THEN NULL::pg_catalog.text
    ELSE 'pg_catalog."the function as it was"' -- there is no such name
END::pg_catalog.regclass
FROM pg_catalog.pg_namespace AS n
WHERE n.nspname OPERATOR(pg_catalog.=) 'pg_catalog'
