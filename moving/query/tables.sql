-- Whether there are tables of these names, and whom they and their schemas belong to. A view, or a
-- table with policies, or with types and casts of its owner's, runs what that owner likes, and who
-- owns the schema can put another table there meanwhile.
-- $1 names, $2 trusted roles
SELECT
    l.name,
    pg_catalog.current_database()::pg_catalog.text,
    coalesce(c.relkind OPERATOR(pg_catalog.=) ANY ('{r,p}'), false),
    coalesce(o.object, ''),
    coalesce(r.rolname::pg_catalog.text, ''),
    coalesce(o.owner::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.int8[]), false)
FROM pg_catalog.unnest($1::pg_catalog.text[]) AS l (name)
LEFT JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(l.name)::pg_catalog.oid
LEFT JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
LEFT JOIN LATERAL (
    VALUES (l.name, c.relowner), ('schema ' OPERATOR(pg_catalog.||) n.nspname::pg_catalog.text, n.nspowner)
) AS o (object, owner) ON true
LEFT JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) o.owner
