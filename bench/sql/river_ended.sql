-- Whether all jobs are completed. Most often the newest one tells.
SELECT coalesce((SELECT state = 'completed' FROM river_job ORDER BY id DESC LIMIT 1), true)
    AND NOT EXISTS (SELECT FROM river_job WHERE state <> 'completed')
