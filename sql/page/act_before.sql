-- Locks a task, and returns what an act must know: its state; whether it has ended and is being
-- stopped; its role if the table has that.
-- $1 id
SELECT t.state::text, t.stop IS NOT NULL, t.stopping IS NOT NULL, coalesce(:role_of_row, '')
FROM :table AS t
WHERE t.id = $1::int8
FOR UPDATE
