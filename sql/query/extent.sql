-- The number of pages of the table, or of its largest partition, without TOAST.
WITH RECURSIVE parts AS (
    SELECT :table_number::oid AS oid
    UNION
    SELECT i.inhrelid
    FROM parts AS p
    JOIN pg_inherits AS i ON i.inhparent = p.oid
)
SELECT coalesce(
    max(
        (pg_table_size(c.oid::regclass) - CASE
            WHEN c.reltoastrelid > 0::oid THEN pg_total_relation_size(c.reltoastrelid::regclass)
            ELSE 0
        END) / current_setting('block_size')::int8
    ),
    0
)::int8
FROM parts AS p
JOIN pg_class AS c ON c.oid = p.oid
