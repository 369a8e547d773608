-- Who owns the table, those below it, and the types of its columns that the server does not come with.
-- $1 the table
WITH RECURSIVE below AS (
    SELECT $1::int8::oid AS oid
    UNION
    SELECT i.inhrelid
    FROM below
    JOIN pg_inherits AS i ON i.inhparent = below.oid
)
SELECT c.relowner::int8 AS owner
FROM below
JOIN pg_class AS c ON c.oid = below.oid
UNION
SELECT t.typowner::int8
FROM pg_attribute AS a
JOIN pg_type AS t ON t.oid = a.atttypid
WHERE a.attrelid = $1::int8::oid AND a.atttypid >= 16384::oid
ORDER BY owner
