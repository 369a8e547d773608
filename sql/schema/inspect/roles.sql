-- Roles of these names.
-- $1 names
SELECT r.oid::pg_catalog.int8
FROM pg_catalog.pg_roles AS r
WHERE r.rolname OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.text[]);
