-- The tables that the table is a partition of, or inherits from.
-- $1 schema, $2 table
WITH RECURSIVE above AS (
    SELECT i.inhparent AS oid
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    JOIN pg_inherits AS i ON i.inhrelid = c.oid
    WHERE n.nspname = $1
        AND c.relname = $2
    UNION
    SELECT i.inhparent
    FROM above
    JOIN pg_inherits AS i ON i.inhrelid = above.oid
)
SELECT n.nspname, c.relname
FROM above
JOIN pg_class AS c ON c.oid = above.oid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
