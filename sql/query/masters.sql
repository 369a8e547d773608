-- Is an error, which exec tells by its types, if the table, one below it, or the type of one of its
-- columns has come to belong to somebody else since it was looked at: their triggers and casts would
-- run as we do.
WITH RECURSIVE below AS (
    SELECT :table_number::pg_catalog.oid AS oid
    UNION
    SELECT i.inhrelid
    FROM below
    JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) below.oid
)
SELECT 1::pg_catalog.int8 OPERATOR(pg_catalog./) (NOT EXISTS (
    SELECT
    FROM below
    WHERE (SELECT c.relowner FROM pg_catalog.pg_class AS c WHERE c.oid OPERATOR(pg_catalog.=) below.oid) OPERATOR(pg_catalog.<>) ALL (:masters::pg_catalog.oid[])
    UNION ALL
    SELECT
    FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid OPERATOR(pg_catalog.=) :table_number::pg_catalog.oid AND a.atttypid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid
        AND (SELECT t.typowner FROM pg_catalog.pg_type AS t WHERE t.oid OPERATOR(pg_catalog.=) a.atttypid) OPERATOR(pg_catalog.<>) ALL (:masters::pg_catalog.oid[])
))::pg_catalog.int4::pg_catalog.int2
