-- How long to keep the ended task t. $1 has the times for DONE, FAIL, GONE and STOP. NULL: for
-- ever, or the task has not ended.
CASE
    WHEN t.state = 'DONE' THEN ($1::interval[])[1]
    WHEN t.state = 'FAIL' THEN ($1::interval[])[2]
    WHEN t.state = 'GONE' THEN ($1::interval[])[3]
    WHEN t.state = 'STOP' THEN ($1::interval[])[4]
END
