-- The server's time, and the first task to start.
SELECT
    clock_timestamp(),
    (SELECT min(id) FROM task WHERE state = 'PLAN')
