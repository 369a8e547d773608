-- The tasks above an id, and whether each has ended, or has been tried and waits to run again.
-- $1 id, $2 most tasks
SELECT t.id, t.stop IS NOT NULL OR t.state = 'PLAN' AND t.attempt > 0
FROM :table AS t
WHERE t.id > $1::int8
ORDER BY t.id
LIMIT $2::int8
