-- Is an error unless the function that writes the ends of others' tasks is that of the number: a
-- stranger's, which has its name since the schema was renamed, would learn the token. Whoever reads a
-- catalog takes in before what others have changed. So it is where the type of its third parameter
-- has a constraint, which would run as we do.
SELECT CASE
    WHEN coalesce(pg_catalog.to_regprocedure(:signature)::pg_catalog.oid::pg_catalog.int8 OPERATOR(pg_catalog.=) :number, false)
        AND NOT EXISTS (
            SELECT
            FROM pg_catalog.pg_proc AS p
            JOIN pg_catalog.pg_type AS y ON y.oid OPERATOR(pg_catalog.=) p.proargtypes[2]
            WHERE p.oid OPERATOR(pg_catalog.=) :number::pg_catalog.oid
                AND (:changed_y OR EXISTS (SELECT FROM pg_catalog.pg_constraint AS k WHERE k.contypid OPERATOR(pg_catalog.=) y.oid))
        ) THEN NULL::pg_catalog.text
    ELSE 'pg_catalog."the function as it was"' -- there is no such name
END::pg_catalog.regclass
FROM pg_catalog.pg_namespace AS n
WHERE n.nspname OPERATOR(pg_catalog.=) 'pg_catalog'
