-- Is an error, which exec tells by its types, if the table, or one below it, has come to belong to
-- somebody else since it was looked at: their triggers would run as we do.
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
    JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) below.oid
    WHERE c.relowner OPERATOR(pg_catalog.<>) ALL (:masters::pg_catalog.oid[])
))::pg_catalog.int4::pg_catalog.int2
