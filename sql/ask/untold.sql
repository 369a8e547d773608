-- Runs that wait until their remote says how their transaction has ended, and for how many seconds.
-- $1 most tasks to look at, $2 most to return
SELECT t.id, "left"(coalesce(t.remote, ''), 1000), date_part('epoch', statement_timestamp() - t.stop)
FROM (
    SELECT *
    FROM :table AS w
    WHERE w.due IS NOT NULL
        AND w.due <= statement_timestamp()
    ORDER BY w.due, w.id
    LIMIT $1::int8
) AS t
WHERE t.state = 'WORK'
    AND t.stop < statement_timestamp() - interval '5 s'
    AND :away
ORDER BY t.id
LIMIT $2::int8
