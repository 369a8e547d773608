-- Deletes tasks. What runs is cancelled by that.
-- $1 ids
DELETE FROM :table AS t
WHERE :those
