-- Whether all tasks above an id have ended. Usually the newest task answers that.
-- $1 id
SELECT coalesce((SELECT state NOT IN ('PLAN', 'TAKE', 'WORK') FROM task ORDER BY id DESC LIMIT 1), true)
    AND NOT EXISTS (SELECT FROM task WHERE id > $1 AND state IN ('PLAN', 'TAKE', 'WORK'))
