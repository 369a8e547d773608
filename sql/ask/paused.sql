-- The repeating tasks that are paused: their jobs make no runs. failures is 0 if max_failures is not
-- the reason.
-- $1 most repeating tasks to look at, $2 most paused ones
SELECT t.id, coalesce(t.key, ''), CASE WHEN t.max_failures > 0 AND t.failures >= t.max_failures THEN t.failures ELSE 0 END
FROM (
    SELECT w.id, w.key, w.state, w.stopping, w.failures, w.max_failures
    FROM :table AS w
    WHERE w.stop IS NULL
        AND (w.repeat > '0' OR w.cron IS NOT NULL)
    ORDER BY w.id
    LIMIT $1::int8
) AS t
WHERE t.state = 'STOP'
    AND t.stopping IS NOT TRUE
LIMIT $2::int8
