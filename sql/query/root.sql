-- What names a table for good, on whatever way one has come to its server: with its partitions it is one.
-- $1 schema, $2 table
SELECT pg_catalog.concat(pg_catalog.pg_postmaster_start_time(), ' ', d.oid, ' ', coalesce(pg_catalog.pg_partition_root(c.oid)::pg_catalog.oid, c.oid))
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
JOIN pg_catalog.pg_database AS d ON d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
WHERE n.nspname OPERATOR(pg_catalog.=) $1
    AND c.relname OPERATOR(pg_catalog.=) $2
