-- Is an error, which exec tells by its types, if the table, one below it, or the type of one of its
-- columns has come to belong to somebody else since it was looked at: their triggers and casts would
-- run as we do.
WITH RECURSIVE below AS (
    SELECT :table_number::oid AS oid
    UNION
    SELECT i.inhrelid
    FROM below
    JOIN pg_inherits AS i ON i.inhparent = below.oid
)
SELECT 1::int8 / (NOT EXISTS (
    SELECT
    FROM below
    WHERE (SELECT c.relowner FROM pg_class AS c WHERE c.oid = below.oid) <> ALL (:masters::oid[])
    UNION ALL
    SELECT
    FROM pg_attribute AS a
    WHERE a.attrelid = :table_number::oid AND a.atttypid >= 16384::oid
        AND (SELECT t.typowner FROM pg_type AS t WHERE t.oid = a.atttypid) <> ALL (:masters::oid[])
))::int4::int2
