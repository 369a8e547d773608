-- What names a table for good, on whatever way one has come to its server, and what names those
-- that it is a partition of, or inherits from.
-- $1 schema, $2 table
WITH RECURSIVE above AS (
    SELECT c.oid, false AS other
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = $1
        AND c.relname = $2
    UNION
    SELECT i.inhparent, true
    FROM above
    JOIN pg_inherits AS i ON i.inhrelid = above.oid
)
SELECT
    min(CASE WHEN NOT x.other THEN x.name END),
    array_remove(array_agg(CASE WHEN x.other THEN x.name END), NULL)
FROM above
JOIN pg_database AS d ON d.datname = current_database()
CROSS JOIN LATERAL (
    SELECT concat(pg_postmaster_start_time(), ' ', d.oid, ' ', above.oid) AS name, above.other
) AS x
