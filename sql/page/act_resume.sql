-- Resumes paused tasks.
-- $1 ids
UPDATE :table AS t
SET state = 'PLAN'
WHERE :those
    AND :can_resume
