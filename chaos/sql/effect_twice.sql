SELECT format('task %s of %s: %s, promised %s, %s effects, of attempts %s', t.id, t."group", t.state, t.promise, count(*),
        string_agg(e.attempt::text, ' '))
FROM effect AS e JOIN task AS t ON t.id = e.id
WHERE t.promise IN ('exactly', 'most')
GROUP BY t.id
HAVING count(*) > 1
