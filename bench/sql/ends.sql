-- How many tasks have ended as they should since a moment, and when that is counted.
-- $1 that moment, $2 output
SELECT
    count(*),
    statement_timestamp()
FROM task
WHERE stop >= $1 AND state = 'DONE' AND output = $2
