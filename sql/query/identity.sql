-- What names a table for good, on whatever way one has come to its server, and what names those
-- that it is a partition of, or inherits from.
-- $1 schema, $2 table
WITH RECURSIVE above AS (
    SELECT c.oid, false AS other
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    WHERE n.nspname OPERATOR(pg_catalog.=) $1
        AND c.relname OPERATOR(pg_catalog.=) $2
    UNION
    SELECT i.inhparent, true
    FROM above
    JOIN pg_catalog.pg_inherits AS i ON i.inhrelid OPERATOR(pg_catalog.=) above.oid
)
SELECT
    pg_catalog.min(CASE WHEN NOT x.other THEN x.name END),
    pg_catalog.array_remove(pg_catalog.array_agg(CASE WHEN x.other THEN x.name END), NULL)
FROM above
JOIN pg_catalog.pg_database AS d ON d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
CROSS JOIN LATERAL (
    SELECT pg_catalog.concat(pg_catalog.pg_postmaster_start_time(), ' ', d.oid, ' ', above.oid) AS name, above.other
) AS x
