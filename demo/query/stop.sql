-- Stops tasks for good. One that ends in this very moment is named all the same: then its repetition is stopped instead.
-- $1 ids
UPDATE public.task
SET state = 'STOP'
WHERE id = ANY ($1)
    AND (repeat > '0' OR state IN ('PLAN', 'TAKE', 'WORK'))
