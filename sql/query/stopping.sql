-- Tasks that were set to STOP while they were under way, and show no end yet. Group and remote are as
-- in scan.
SELECT
    t.id,
    :key_of_group,
    coalesce(:key_of_remote, '')
FROM :table AS t
WHERE t.due IS NULL -- after all due ones, in its index
    AND t.stopping
    AND t.state = 'STOP'
    AND t.stop IS NULL
