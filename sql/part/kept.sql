-- How long the ended task t is kept, of $1: the times for DONE, FAIL, GONE and STOP. NULL: for
-- ever, or it has not ended.
CASE
    WHEN t.state OPERATOR(pg_catalog.=) 'DONE' THEN ($1::pg_catalog.interval[])[1]
    WHEN t.state OPERATOR(pg_catalog.=) 'FAIL' THEN ($1::pg_catalog.interval[])[2]
    WHEN t.state OPERATOR(pg_catalog.=) 'GONE' THEN ($1::pg_catalog.interval[])[3]
    WHEN t.state OPERATOR(pg_catalog.=) 'STOP' THEN ($1::pg_catalog.interval[])[4]
END
