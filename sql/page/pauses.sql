-- The rows of the table of groups that pause tasks now.
SELECT g."group", g.until, g.note, g.changed_by
FROM :its_group AS g
WHERE g.paused AND coalesce(g.until > statement_timestamp(), true)
ORDER BY g."group"
LIMIT 1000
