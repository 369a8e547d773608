-- The names of some of the first roles that are not among the second.
SELECT :readable(quote_ident(r.rolname))
FROM pg_roles AS r
WHERE r.oid::int8 = ANY ($1::int8[])
    AND NOT r.oid::int8 = ANY ($2::int8[])
ORDER BY 1
LIMIT 5
