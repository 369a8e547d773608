-- How many pages the table has, or the largest of its partitions: without what lies in TOAST.
-- $1 schema, $2 table
WITH RECURSIVE parts AS (
    SELECT c.oid
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    WHERE n.nspname OPERATOR(pg_catalog.=) $1
        AND c.relname OPERATOR(pg_catalog.=) $2
    UNION
    SELECT i.inhrelid
    FROM parts AS p
    JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) p.oid
)
SELECT coalesce(
    pg_catalog.max(
        (pg_catalog.pg_table_size(c.oid::pg_catalog.regclass) OPERATOR(pg_catalog.-) CASE
            WHEN c.reltoastrelid OPERATOR(pg_catalog.>) 0::pg_catalog.oid THEN pg_catalog.pg_total_relation_size(c.reltoastrelid::pg_catalog.regclass)
            ELSE 0
        END) OPERATOR(pg_catalog./) pg_catalog.current_setting('block_size')::pg_catalog.int8
    ),
    0
)::pg_catalog.int8
FROM parts AS p
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) p.oid
