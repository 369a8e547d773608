-- Locks rows, even if they have changed.
-- $1 ids
SELECT t.id
FROM :table AS t
WHERE t.id = ANY ($1::int8[])
ORDER BY t.id
FOR NO KEY UPDATE
