-- A failover loses what a COMMIT of the task's own has left, if the wait for the standby was cancelled.
SELECT format('task %s of %s, attempt %s, interrupted %s, pid %s', id, "group", attempt, interrupted, pid)
FROM task AS t
WHERE state = 'DONE'
    AND (promise = 'exactly' OR promise IS NOT NULL AND NOT EXISTS (SELECT FROM in_flight))
    AND NOT EXISTS (SELECT FROM effect AS e WHERE e.id = t.id)
