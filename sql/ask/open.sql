-- The due tasks, longest waiting first: how many wait, how many run, the plan and the age of the
-- oldest waiting task, and whether there may be more.
-- $1 most tasks to look at
SELECT
    count(CASE WHEN d.state = 'PLAN' THEN 1 END),
    count(CASE WHEN d.state = 'WORK' THEN 1 END) + (
        SELECT count(*)
        FROM :table AS t
        WHERE :stopping
    ),
    min(CASE WHEN d.state = 'PLAN' THEN d.due END)::text,
    coalesce(date_part('epoch', statement_timestamp() - min(CASE WHEN d.state = 'PLAN' THEN d.due END)), 0),
    count(*) >= $1::int8
FROM (
    -- tasks that the leader has not looked at yet have an infinite due
    SELECT t.state, greatest(t.due, least(t.plan, statement_timestamp())) AS due
    FROM :table AS t
    WHERE t.due IS NOT NULL
        AND t.due <= statement_timestamp()
    ORDER BY t.due, t.id
    LIMIT $1::int8
) AS d
