SELECT format('task %s of %s, attempt %s, interrupted %s, pid %s', id, "group", attempt, interrupted, pid)
FROM task AS t
WHERE state = 'DONE' AND promise IS NOT NULL AND NOT EXISTS (SELECT FROM effect AS e WHERE e.id = t.id)
