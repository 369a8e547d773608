SELECT format('task %s is repeated by %s', parent, string_agg(id::text, ' '))
FROM task
WHERE parent IS NOT NULL
GROUP BY parent
HAVING count(*) > 1
UNION ALL
SELECT format('%s began %s times', "group", count(*))
FROM task
WHERE chain AND parent IS NULL
GROUP BY "group"
HAVING count(*) > 1
