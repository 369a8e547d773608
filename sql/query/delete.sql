-- Deletes tasks that have ended with nothing to show, as they ask for.
-- $1 ids
DELETE FROM :table AS t
WHERE t.id = ANY ($1)
    AND t.state = 'DONE'
    AND t."delete"
    AND t.output IS NULL
    AND t.error IS NULL
