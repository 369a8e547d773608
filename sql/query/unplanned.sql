-- Tasks whose cron expression is still to be looked at, or after, in the order of their ids. What is
-- longer than an expression may be is not brought. Of after comes whether it is long, also where it
-- is stored in few bytes because its ids are alike, and in whose turn it is looked at.
-- $1 from which id on, $2 most rows
SELECT
    t.id,
    t.xmin,
    CASE WHEN t.cron IS NULL OR t.origin IS NULL THEN '' WHEN pg_catalog.octet_length(t.cron) OPERATOR(pg_catalog.<=) 1024 THEN t.cron ELSE pg_catalog.repeat('*', 1025) END,
    t.origin,
    t.plan,
    t.until,
    t.catchup,
    x.follows,
    x.follows AND CASE WHEN pg_catalog.pg_column_size(t.after) OPERATOR(pg_catalog.<=) 1000 THEN pg_catalog.cardinality(t.after) OPERATOR(pg_catalog.>) 125 ELSE true END,
    CASE WHEN x.follows THEN coalesce(pg_catalog.hashtext(:turn_of_t), 0) ELSE 0 END
FROM :table AS t
CROSS JOIN LATERAL (SELECT (t.cron IS NULL OR t.origin IS NULL) AND t.after IS NOT NULL AS follows) AS x
WHERE t.due IS NOT NULL
    AND (t.due, t.id) OPERATOR(pg_catalog.>=) ('-infinity', $1::pg_catalog.int8)
    AND t.due OPERATOR(pg_catalog.<=) '-infinity'
ORDER BY t.due, t.id
LIMIT $2
