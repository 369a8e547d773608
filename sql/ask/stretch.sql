-- The least id of the next stretch of so many rows, downwards. No row: fewer are left.
-- $1 the greatest id, $2 rows
SELECT t.id
FROM :table AS t
WHERE t.id <= $1::int8
ORDER BY t.id DESC
LIMIT 1 OFFSET $2::int8
