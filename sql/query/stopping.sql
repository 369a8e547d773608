-- What was set to STOP while it was under way, and shows no end yet. Group and remote are as in
-- scan.
SELECT
    t.id,
    :key_of_group,
    coalesce(:key_of_remote, '')
FROM :table AS t
WHERE t.due IS NULL -- behind all that is due, in its index
    AND t.stopping
    AND t.state = 'STOP'
    AND t.stop IS NULL
