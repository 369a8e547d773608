-- Roles of these names.
-- $1 names
SELECT r.oid::int8
FROM pg_roles AS r
WHERE r.rolname = ANY ($1::text[]);
