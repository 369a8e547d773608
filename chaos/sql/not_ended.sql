-- After the drain only the next task of each chain may wait, and no task may run.
SELECT format('task %s of %s: %s, interrupted %s, plan %s, %s', id, "group", state, interrupted, plan, split_part(error, E'\n', 1))
FROM task
WHERE state IN ('TAKE', 'WORK') OR state = 'PLAN' AND NOT chain
