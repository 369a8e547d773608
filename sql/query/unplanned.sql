-- Tasks whose cron expression is still to be looked at, or after, in the order of their ids. What is
-- longer than an expression may be is not brought.
-- $1 from which id on, $2 most rows
SELECT
    t.id,
    t.xmin,
    CASE WHEN t.cron IS NULL OR t.origin IS NULL THEN '' WHEN pg_catalog.octet_length(t.cron) OPERATOR(pg_catalog.<=) 1024 THEN t.cron ELSE pg_catalog.repeat('*', 1025) END,
    t.origin,
    t.plan,
    t.until,
    t.catchup,
    (t.cron IS NULL OR t.origin IS NULL) AND t.after IS NOT NULL
FROM :table AS t
WHERE t.due IS NOT NULL
    AND (t.due, t.id) OPERATOR(pg_catalog.>=) ('-infinity', $1)
    AND t.due OPERATOR(pg_catalog.<=) '-infinity'
ORDER BY t.due, t.id
LIMIT $2
