-- Whether there are tables of these names.
-- $1 names
SELECT
    l.name,
    pg_catalog.current_database()::pg_catalog.text,
    coalesce(c.relkind OPERATOR(pg_catalog.=) ANY ('{r,p}'), false)
FROM pg_catalog.unnest($1::pg_catalog.text[]) AS l (name)
LEFT JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(l.name)::pg_catalog.oid
