-- The rows of the table of groups that pause tasks now: by whom, why, and until when.
-- $1 most rows
SELECT
    g."group",
    coalesce(g.changed_by, ''),
    coalesce(replace("left"(g.note, 200), E'\n', ' '), ''),
    coalesce(nullif(g.until, 'infinity')::text, '')
FROM :its_group AS g
WHERE g.paused
    AND coalesce(g.until > statement_timestamp(), true)
ORDER BY g."group"
LIMIT $1::int8
