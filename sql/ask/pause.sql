-- Pauses a group, or all groups with a prefix, by its row in the table of groups.
-- $1 group, $2 until when (NULL: until somebody resumes it), $3 a note (empty: keep the present one)
INSERT INTO :its_group AS g ("group", paused, until, note)
VALUES ($1::text, true, $2::timestamptz, nullif($3::text, ''))
ON CONFLICT ("group") DO UPDATE
SET paused = true, until = excluded.until, note = coalesce(excluded.note, g.note)
RETURNING coalesce(g.until::text, '')
