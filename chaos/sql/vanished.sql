SELECT format('task %s was inserted', p.id)
FROM planned AS p
WHERE NOT EXISTS (SELECT FROM task AS t WHERE t.id = p.id)
UNION ALL
SELECT format('task %s, repetition of task %s', t.next, t.id)
FROM task AS t
WHERE t.next IS NOT NULL AND NOT EXISTS (SELECT FROM task AS n WHERE n.id = t.next)
UNION ALL
SELECT format('task %s, repeated by task %s', t.parent, t.id)
FROM task AS t
WHERE t.parent IS NOT NULL AND NOT EXISTS (SELECT FROM task AS p WHERE p.id = t.parent)
