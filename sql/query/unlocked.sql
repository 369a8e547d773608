-- Which of these rows nobody has locked.
-- $1 ids
SELECT t.id
FROM :table AS t
WHERE t.id OPERATOR(pg_catalog.=) ANY ($1)
FOR NO KEY UPDATE SKIP LOCKED
