-- The due tasks, of those that have waited longest: how many wait, how many run, the plan of the
-- oldest that waits and its age; and whether there are more.
-- $1 most tasks that are looked at
SELECT
    count(CASE WHEN d.state = 'PLAN' THEN 1 END),
    count(CASE WHEN d.state = 'WORK' THEN 1 END) + (
        SELECT count(*)
        FROM :table AS t
        WHERE t.due IS NULL -- after all due ones, in its index
            AND t.stopping
            AND t.state = 'STOP'
            AND t.stop IS NULL
    ),
    min(CASE WHEN d.state = 'PLAN' THEN d.due END)::text,
    coalesce(date_part('epoch', statement_timestamp() - min(CASE WHEN d.state = 'PLAN' THEN d.due END)), 0),
    count(*) >= $1::int8
FROM (
    SELECT t.state, greatest(t.due, least(t.plan, statement_timestamp())) AS due -- of what the leader has not looked at yet it is infinite
    FROM :table AS t
    WHERE t.due IS NOT NULL
        AND t.due <= statement_timestamp()
    ORDER BY t.due, t.id
    LIMIT $1::int8
) AS d
