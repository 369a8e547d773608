-- FAILs in a row in the chain of the task t, with its own end.
CASE
    WHEN t.state OPERATOR(pg_catalog.=) 'DONE' THEN 0
    WHEN t.state OPERATOR(pg_catalog.=) 'FAIL' THEN least(t.failures, 2147483646) OPERATOR(pg_catalog.+) 1
    ELSE t.failures
END
