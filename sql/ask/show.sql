-- All columns of a task.
-- $1 id
SELECT t.*
FROM :table AS t
WHERE t.id OPERATOR(pg_catalog.=) $1::pg_catalog.int8
