-- Is the error of a task that is no longer ours if the table, or one below it, has come to belong to
-- somebody else since it was looked at: their triggers would run as we do. What we see may be older
-- than that.
WITH RECURSIVE below AS (
    SELECT :table_number::pg_catalog.oid AS oid
    UNION
    SELECT i.inhrelid
    FROM below
    JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) below.oid
)
SELECT 1::pg_catalog.int2 OPERATOR(pg_catalog./) (NOT EXISTS (
    SELECT
    FROM below
    JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) below.oid
    WHERE c.relowner OPERATOR(pg_catalog.<>) ALL (:masters::pg_catalog.oid[]) OR :changed_c
))::pg_catalog.int4
