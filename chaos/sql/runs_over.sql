-- No task has a retry, so each run but the last must have been cut off.
SELECT format('task %s: %s runs, interrupted %s, %s', id, attempt, interrupted, runs)
FROM task
WHERE attempt > 1 AND attempt - 1 > jsonb_array_length(coalesce(runs, '[]'))
