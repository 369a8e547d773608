-- Whether there are tables of these names.
-- $1 names
SELECT
    l.name,
    current_database()::text,
    coalesce(c.relkind = ANY ('{r,p}'), false)
FROM unnest($1::text[]) AS l (name)
LEFT JOIN pg_class AS c ON c.oid = to_regclass(l.name)::oid
