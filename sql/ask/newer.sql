-- The tasks above an id; whether each has ended, or waits to be tried again.
-- $1 id, $2 most tasks
SELECT t.id, t.stop IS NOT NULL OR t.state = 'PLAN' AND t.attempt > 0
FROM :table AS t
WHERE t.id > $1::int8
ORDER BY t.id
LIMIT $2::int8
