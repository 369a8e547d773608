-- Whether we may end the backend a, in a table whose tasks run under several roles: it has our
-- role, or a role whose rights we have.
(
    a.usesysid = quote_ident(current_user)::regrole::oid
    OR pg_has_role(a.usesysid, 'USAGE')
    AND (
        current_setting('is_superuser') = 'on'
        OR NOT EXISTS (
            SELECT
            FROM pg_roles AS o
            WHERE o.oid = a.usesysid
                AND o.rolsuper
        )
    )
)
