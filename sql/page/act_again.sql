-- Lets ended tasks run again, as new.
-- $1 ids
UPDATE :table AS t
SET state = 'PLAN'
WHERE :those
    AND :can_again
