-- What names a table for good, on whatever way one has come to its server: with its partitions it is one.
-- $1 schema, $2 table
SELECT pg_catalog.pg_postmaster_start_time()::text || ' ' || d.oid || ' ' || coalesce(pg_catalog.pg_partition_root(c.oid)::oid, c.oid)
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_database AS d ON d.datname = pg_catalog.current_database()
WHERE n.nspname = $1
    AND c.relname = $2
