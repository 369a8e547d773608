-- Who owns the table, those below it, and the types of its columns that the server does not come with.
-- $1 the table
WITH RECURSIVE below AS (
    SELECT $1::pg_catalog.int8::pg_catalog.oid AS oid
    UNION
    SELECT i.inhrelid
    FROM below
    JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) below.oid
)
SELECT c.relowner::pg_catalog.int8 AS owner
FROM below
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) below.oid
UNION
SELECT t.typowner::pg_catalog.int8
FROM pg_catalog.pg_attribute AS a
JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) a.atttypid
WHERE a.attrelid OPERATOR(pg_catalog.=) $1::pg_catalog.int8::pg_catalog.oid AND a.atttypid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid
ORDER BY owner
