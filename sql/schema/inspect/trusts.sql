-- $1 trusted roles
SELECT r.oid::int8 = ANY ($1::int8[])
FROM pg_roles AS r
WHERE r.rolname = current_user;
