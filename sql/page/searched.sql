-- The least id that a search looks at. No row: the table has fewer rows.
-- $1 rows that it looks at, less one
SELECT t.id
FROM :table AS t
ORDER BY t.id DESC
LIMIT 1 OFFSET $1::int8
