-- The values of a task's columns, for the page each up to a limit, and their lengths.
-- $1 id, $2 most characters of a value, $3 most bytes, as stored, of a value that is not text
SELECT :columns
FROM :table AS t
WHERE t.id = $1::int8
LIMIT 1
