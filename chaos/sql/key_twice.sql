SELECT format('%s waits in tasks %s', key, string_agg(id::text, ' '))
FROM task
WHERE state = 'PLAN' AND key IS NOT NULL
GROUP BY key
HAVING count(*) > 1
