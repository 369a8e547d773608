-- Whether the row t is still as it was read for e, or as the mark of that run left it.
(
    t.state OPERATOR(pg_catalog.=) 'PLAN' AND t.xmin OPERATOR(pg_catalog.=) e.version
    OR t.state OPERATOR(pg_catalog.=) 'WORK' AND t.pid OPERATOR(pg_catalog.=) e.pid
)
