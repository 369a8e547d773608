-- The id at which the next range of this many rows ends, downwards. No row: fewer rows are left.
-- $1 the greatest id, $2 rows
SELECT t.id
FROM :table AS t
WHERE t.id <= $1::int8
ORDER BY t.id DESC
LIMIT 1 OFFSET $2::int8
