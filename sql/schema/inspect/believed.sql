-- The names of some of the first roles that are not among the second.
SELECT :readable(pg_catalog.quote_ident(r.rolname))
FROM pg_catalog.pg_roles AS r
WHERE r.oid::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.int8[])
    AND NOT r.oid::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.int8[])
ORDER BY 1
LIMIT 5
