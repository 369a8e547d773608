SELECT format('task %s: %s, %s effects, %s runs', e.id, t.state, count(*), t.attempt)
FROM effect AS e LEFT JOIN task AS t ON t.id = e.id
WHERE t.id IS NULL OR t.promise = 'least'
GROUP BY e.id, t.id
HAVING count(*) > coalesce(t.attempt, 0) OR count(DISTINCT e.attempt) < count(*)
