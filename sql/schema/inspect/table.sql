SELECT
    c.oid::pg_catalog.int8,
    c.relkind::pg_catalog.text,
    coalesce(pg_catalog.obj_description(c.oid, 'pg_class'), ''),
    coalesce(c.reloptions, '{}'),
    c.relispartition,
    coalesce(pg_catalog.pg_partition_root(c.oid)::pg_catalog.oid, c.oid)::pg_catalog.int8
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE n.nspname OPERATOR(pg_catalog.=) $1
    AND c.relname OPERATOR(pg_catalog.=) $2;
