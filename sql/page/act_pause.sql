-- Pauses tasks that wait.
-- $1 ids
UPDATE :table AS t
SET state = 'STOP'
WHERE :those
    AND :can_pause
