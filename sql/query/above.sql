-- The table, and the tables that it is a partition or child of: for each a name that is the same on
-- every connection to this server, and whether it is another table.
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
SELECT n.nspname, c.relname, concat(pg_postmaster_start_time(), ' ', d.oid, ' ', c.oid), above.other
FROM above
JOIN pg_class AS c ON c.oid = above.oid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_database AS d ON d.datname = current_database()
