-- The long texts of one task, at its start.
-- $1 id
SELECT t.input, coalesce(t.data, '')
FROM :table AS t
WHERE t.id OPERATOR(pg_catalog.=) $1
