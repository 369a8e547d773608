-- Why a task waits.
-- $1 id
SELECT coalesce(:why(t.id)::text, '')
FROM :table AS t
WHERE t.id = $1::int8
LIMIT 1
