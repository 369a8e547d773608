-- Sessions are cancelled and terminated; a task that five crashes of the server have cut off is given up, and so is one
-- that must not run again; one that would wait again while another one waits under its key is GONE. Nothing else is a reason not to be DONE.
SELECT format('task %s: %s, interrupted %s, %s %s', id, state, interrupted, sqlstate, replace(left(error, 300), E'\n', ' '))
FROM task
WHERE state NOT IN ('PLAN', 'TAKE', 'WORK', 'DONE')
    AND NOT (state = 'FAIL' AND (coalesce(sqlstate, '') IN ('57014', '57P01') OR interrupted >= 5 OR interrupted > 0 AND NOT rerun))
    AND NOT (state = 'GONE' AND key IS NOT NULL)
