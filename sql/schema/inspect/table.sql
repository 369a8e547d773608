SELECT
    c.oid::pg_catalog.int8,
    c.relkind::pg_catalog.text,
    coalesce((
        SELECT s.description
        FROM pg_catalog.pg_description AS s
        WHERE s.objoid OPERATOR(pg_catalog.=) c.oid
            AND s.classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
            AND s.objsubid OPERATOR(pg_catalog.=) 0
    ), ''),
    coalesce(c.reloptions, '{}'),
    c.relispartition,
    coalesce(pg_catalog.pg_partition_root(c.oid)::pg_catalog.oid, c.oid)::pg_catalog.int8
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE n.nspname OPERATOR(pg_catalog.=) $1
    AND c.relname OPERATOR(pg_catalog.=) $2;
