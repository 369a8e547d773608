-- Tells which rights the role lacks to read a table.
-- $1 schema, $2 table
SELECT :denied
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = $1
    AND c.relname = $2
