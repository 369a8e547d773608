-- $1 trusted roles
SELECT r.oid::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.int8[])
FROM pg_catalog.pg_roles AS r
WHERE r.rolname OPERATOR(pg_catalog.=) current_user;
