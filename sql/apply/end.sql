-- Ends the series of a task that runs; what runs goes on.
-- $1 id
UPDATE :table AS t
SET repeat = '0', cron = NULL
WHERE t.id = $1
RETURNING t.id
