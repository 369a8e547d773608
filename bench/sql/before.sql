-- The server's time, and the task that is to start first.
SELECT
    clock_timestamp(),
    (SELECT min(id) FROM task WHERE state = 'PLAN')
