-- Whether all jobs are completed. Usually the newest job answers that.
SELECT coalesce((SELECT state = 'completed' FROM river_job ORDER BY id DESC LIMIT 1), true)
    AND NOT EXISTS (SELECT FROM river_job WHERE state <> 'completed')
