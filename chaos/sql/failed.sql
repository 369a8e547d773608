-- Tasks that are not DONE without one of these reasons: a cancelled or terminated session (FAIL);
-- five crashes of the server; a cut-off run that must not be repeated; another task that waits with
-- the key (GONE).
SELECT format('task %s: %s, interrupted %s, %s %s', id, state, interrupted, sqlstate, replace(left(error, 300), E'\n', ' '))
FROM task
WHERE state NOT IN ('PLAN', 'TAKE', 'WORK', 'DONE')
    AND sqlstate IS DISTINCT FROM 'TK003'
    AND NOT (state = 'FAIL' AND (coalesce(sqlstate, '') IN ('57014', '57P01') OR interrupted >= 5 OR interrupted > 0 AND NOT rerun))
    AND NOT (state = 'GONE' AND key IS NOT NULL)
