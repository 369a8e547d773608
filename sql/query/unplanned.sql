-- Tasks whose cron expression is still to be looked at, or after, in the order of their ids. What is
-- longer than an expression may be is not brought. Of after comes whether it is long, also where it
-- is stored in few bytes because its ids are alike, and in whose turn it is looked at.
-- $1 from which id on, $2 most rows
SELECT
    t.id,
    t.xmin,
    CASE WHEN t.cron IS NULL OR t.origin IS NULL THEN '' WHEN octet_length(t.cron) <= 1024 THEN t.cron ELSE repeat('*', 1025) END,
    t.origin,
    t.plan,
    t.until,
    t.catchup,
    x.follows,
    x.follows AND CASE WHEN pg_column_size(t.after) <= 1000 THEN cardinality(t.after) > 125 ELSE true END,
    CASE WHEN x.follows THEN coalesce(hashtext(:turn_of_t), 0) ELSE 0 END
FROM :table AS t
CROSS JOIN LATERAL (SELECT (t.cron IS NULL OR t.origin IS NULL) AND t.after IS NOT NULL AS follows) AS x
WHERE t.due IS NOT NULL
    AND (t.due, t.id) >= ('-infinity', $1::int8)
    AND t.due <= '-infinity'
ORDER BY t.due, t.id
LIMIT $2
