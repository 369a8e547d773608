-- Whether tables of these names exist, their owner, and whether that is a superuser, the session's
-- role, or one of the named roles.
-- $1 names, $2 names of roles
SELECT
    l.name,
    current_database()::text,
    coalesce(c.relkind = ANY ('{r,p}'), false),
    coalesce(quote_ident(o.rolname), ''),
    coalesce(o.rolsuper OR o.rolname = current_user OR o.rolname = ANY ($2::text[]), false)
FROM unnest($1::text[]) AS l (name)
LEFT JOIN pg_class AS c ON c.oid = to_regclass(l.name)::oid
LEFT JOIN pg_roles AS o ON o.oid = c.relowner
