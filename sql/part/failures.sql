-- How many tasks in a row have FAILed in the chain of the task t, up to and including t.
CASE
    WHEN t.state = 'DONE' THEN 0
    WHEN t.state = 'FAIL' THEN least(t.failures, 2147483646) + 1
    ELSE t.failures
END
