-- Whether we may end the backend a where tasks run under other roles than ours: it is ours, or that
-- of a role whose rights we have.
(
    a.usesysid OPERATOR(pg_catalog.=) pg_catalog.quote_ident(current_user)::pg_catalog.regrole::pg_catalog.oid
    OR pg_catalog.pg_has_role(a.usesysid, 'USAGE')
    AND (
        pg_catalog.current_setting('is_superuser') OPERATOR(pg_catalog.=) 'on'
        OR NOT EXISTS (
            SELECT
            FROM pg_catalog.pg_roles AS o
            WHERE o.oid OPERATOR(pg_catalog.=) a.usesysid
                AND o.rolsuper
        )
    )
)
