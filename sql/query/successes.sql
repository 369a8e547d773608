-- When the jobs that have an owner were last DONE: the row that waits, is paused or runs knows that
-- of the runs before its parent.
-- $1 most repeating tasks to look at, $2 most jobs
SELECT t.key, greatest(:own_success, p.stop)
FROM (
    SELECT *
    FROM :table AS w
    WHERE w.stop IS NULL
        AND (w.repeat > '0' OR w.cron IS NOT NULL)
    ORDER BY w.id
    LIMIT $1
) AS t
LEFT JOIN LATERAL (
    SELECT p.stop
    FROM :table AS p
    WHERE p.id BETWEEN t.parent AND t.parent
        AND p.key = t.key
        AND p.state = 'DONE'
    ORDER BY p.id
    LIMIT 1
) AS p ON true
WHERE :owner_of_t IS NOT NULL
    AND t.key IS NOT NULL
    AND greatest(:own_success, p.stop) < 'infinity'
LIMIT $2
