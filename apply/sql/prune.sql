-- Deletes a row that waits.
-- $1 id
DELETE FROM :table AS t
WHERE t.id OPERATOR(pg_catalog.=) $1
RETURNING t.id
