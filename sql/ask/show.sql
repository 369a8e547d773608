-- All columns of a task.
-- $1 id
SELECT t.*
FROM :table AS t
WHERE t.id = $1::int8
