SELECT format('task %s: %s, attempt %s, interrupted %s, pid %s, effect of attempt %s by pid %s, %s', e.id, t.state, t.attempt, t.interrupted, t.pid,
        e.attempt, e.pid, replace(left(t.error, 200), E'\n', ' '))
FROM effect AS e LEFT JOIN task AS t ON t.id = e.id
WHERE t.id IS NULL OR t.promise = 'exactly' AND t.state <> 'DONE' AND t.sqlstate IS DISTINCT FROM 'TK003'
