-- Deletes a waiting row.
-- $1 id
DELETE FROM :table AS t
WHERE t.id = $1
RETURNING t.id
