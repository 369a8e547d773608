-- Tasks whose cron expression or after the leader has not looked at yet, in the order of their ids.
-- Texts longer than any expression come as asterisks.
-- $1 the first id, $2 most rows
SELECT
    t.id,
    t.xmin,
    CASE WHEN t.cron IS NULL OR t.origin IS NULL THEN '' WHEN octet_length(t.cron) <= 1024 THEN t.cron ELSE repeat('*', 1025) END,
    t.origin,
    t.plan,
    t.until,
    t.catchup,
    t.until IS NOT NULL AND EXISTS ( -- it is a repetition
        SELECT
        FROM :table AS p
        WHERE p.id BETWEEN t.parent AND t.parent
            AND p.next = t.id
    ),
    (t.cron IS NULL OR t.origin IS NULL) AND t.after IS NOT NULL
FROM :table AS t
WHERE t.due IS NOT NULL
    AND (t.due, t.id) >= ('-infinity', $1::int8)
    AND t.due <= '-infinity'
ORDER BY t.due, t.id
LIMIT $2
