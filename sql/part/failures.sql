-- FAILs in a row in the chain of the task t, with its own end.
CASE
    WHEN t.state = 'DONE' THEN 0
    WHEN t.state = 'FAIL' THEN least(t.failures, 2147483646) + 1
    ELSE t.failures
END
