-- Stops tasks for good. It includes tasks that end at this moment: then their repetition is
-- stopped.
-- $1 ids
UPDATE public.task
SET state = 'STOP'
WHERE id = ANY ($1)
    AND (repeat > '0' OR state IN ('PLAN', 'TAKE', 'WORK'))
