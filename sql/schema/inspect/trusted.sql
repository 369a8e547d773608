-- Whose objects beside the table we use, and may replace.
-- $1 schema, $2 table, $3 names of further roles
SELECT r.oid::int8
FROM pg_roles AS r
WHERE r.rolsuper
    OR r.rolname = current_user
    OR r.rolname = ANY ($3::text[])
    OR r.oid = (
        SELECT c.relowner
        FROM pg_class AS c
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = $1::text AND c.relname = $2::text
    )
