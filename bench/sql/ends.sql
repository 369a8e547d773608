-- How many tasks have ended well since a moment, and when this was counted.
-- $1 that moment, $2 output
SELECT
    count(*),
    statement_timestamp()
FROM task
WHERE stop >= $1 AND state = 'DONE' AND output = $2
