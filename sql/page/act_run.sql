-- Inserts copies of tasks that run once, now, beside the beat.
-- $1 ids, $2 data (NULL: that of the task)
INSERT INTO :table (plan, state, repeat, cron, key, after, data, :copied)
SELECT statement_timestamp(), 'PLAN', '0', NULL, NULL, NULL, :data, :copied_of_t
FROM :table AS t
WHERE :those
    :and_can_run
