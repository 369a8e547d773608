-- Ends the series of a running task; the current run goes on.
-- $1 id
UPDATE :table AS t
SET repeat = '0', cron = NULL
WHERE t.id = $1
RETURNING t.id
