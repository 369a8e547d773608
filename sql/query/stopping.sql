-- Tasks that were set to STOP while under way, and show no end yet. Group and remote come as in
-- scan.sql.
SELECT
    t.id,
    :key_of_group,
    coalesce(:key_of_remote, '')
FROM :table AS t
WHERE t.due IS NULL -- they come after all due tasks in the index
    AND t.stopping
    AND t.state = 'STOP'
    AND t.stop IS NULL
