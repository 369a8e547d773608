SELECT format('%s has %s waiting or running', "group", count(*) FILTER (WHERE state IN ('PLAN', 'TAKE', 'WORK')))
FROM task
WHERE chain
GROUP BY "group"
HAVING count(*) FILTER (WHERE state IN ('PLAN', 'TAKE', 'WORK')) <> 1
UNION ALL
SELECT format('task %s of %s has ended and is not repeated: %s, next %s', id, "group", state, next)
FROM task AS t
WHERE chain AND state NOT IN ('PLAN', 'TAKE', 'WORK') AND NOT EXISTS (SELECT FROM task AS n WHERE n.parent = t.id AND n.id = t.next)
