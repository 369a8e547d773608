SELECT format('task %s: %s effects, of attempts %s', id, count(*), string_agg(attempt::text, ' '))
FROM effect
GROUP BY id
HAVING count(*) > 1
