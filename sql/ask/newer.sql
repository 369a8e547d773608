-- The tasks above an id, and whether each has ended, or has been tried and waits to run again.
-- $1 id, $2 most tasks
SELECT t.id, t.stop IS NOT NULL OR t.state OPERATOR(pg_catalog.=) 'PLAN' AND t.attempt OPERATOR(pg_catalog.>) 0
FROM :table AS t
WHERE t.id OPERATOR(pg_catalog.>) $1::pg_catalog.int8
ORDER BY t.id
LIMIT $2::pg_catalog.int8
