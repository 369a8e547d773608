-- Who owns the table and those below it.
-- $1 the table
WITH RECURSIVE below AS (
    SELECT $1::pg_catalog.int8::pg_catalog.oid AS oid
    UNION
    SELECT i.inhrelid
    FROM below
    JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) below.oid
)
SELECT DISTINCT c.relowner::pg_catalog.int8
FROM below
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) below.oid
ORDER BY c.relowner::pg_catalog.int8
