-- Tasks of which nobody can know any more how they have ended, though they were not under way when
-- the remote failed over.
SELECT format('task %s: %s to %s, %s', id, start, stop, replace(left(error, 300), E'\n', ' '))
FROM task AS t
WHERE sqlstate = 'TK003' AND NOT EXISTS (SELECT FROM in_flight AS f WHERE f.id = t.id)
