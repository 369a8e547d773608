-- Whether something follows the end of the task t: a repetition, another task, or a notification.
(t.repeat > '0' OR t.cron IS NOT NULL OR t.on_fail IS NOT NULL OR t.notify IS NOT NULL)
