-- Whether a task waits or runs. Most often the newest one tells.
SELECT coalesce((SELECT state IN ('PLAN', 'TAKE', 'WORK') FROM task ORDER BY id DESC LIMIT 1), false)
    OR EXISTS (SELECT FROM task WHERE state IN ('PLAN', 'TAKE', 'WORK'))
