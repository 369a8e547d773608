-- Whether the page may run a copy of the row t: it keeps the role of the row, so this session must
-- be able to become that role. Only if a trigger fills the column role.
EXISTS (
    SELECT
    FROM pg_roles AS r
    WHERE r.rolname = t.role
        AND pg_has_role(r.oid, :becoming)
)
