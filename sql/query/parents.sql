-- The tables that the table is a partition of, or inherits from.
-- $1 schema, $2 table
WITH RECURSIVE above AS (
    SELECT i.inhparent AS oid
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    JOIN pg_catalog.pg_inherits AS i ON i.inhrelid OPERATOR(pg_catalog.=) c.oid
    WHERE n.nspname OPERATOR(pg_catalog.=) $1
        AND c.relname OPERATOR(pg_catalog.=) $2
    UNION
    SELECT i.inhparent
    FROM above
    JOIN pg_catalog.pg_inherits AS i ON i.inhrelid OPERATOR(pg_catalog.=) above.oid
)
SELECT n.nspname, c.relname
FROM above
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) above.oid
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
