-- $1 id, $2 copies, $3 lanes; the plans start at the task's, a microsecond apart
SELECT multiply(id, $2, $3, plan, interval '1 microsecond')
FROM task
WHERE id = $1
