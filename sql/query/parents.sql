-- The tables that the table is a partition of.
-- $1 schema, $2 table
SELECT p.nspname, r.relname
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
CROSS JOIN LATERAL pg_catalog.pg_partition_ancestors(c.oid) AS a (relid)
JOIN pg_catalog.pg_class AS r ON r.oid OPERATOR(pg_catalog.=) a.relid
JOIN pg_catalog.pg_namespace AS p ON p.oid OPERATOR(pg_catalog.=) r.relnamespace
WHERE n.nspname OPERATOR(pg_catalog.=) $1
    AND c.relname OPERATOR(pg_catalog.=) $2
    AND r.oid OPERATOR(pg_catalog.<>) c.oid
