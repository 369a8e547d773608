-- The due tasks, longest waiting first: how many wait, how many run, whether there may be more; and
-- the plan, age, id and group of the task that has waited longest.
-- $1 most tasks to look at
WITH due AS MATERIALIZED (
    -- tasks that the leader has not looked at yet have an infinite due
    SELECT t.id, t."group", t.state, greatest(t.due, least(t.plan, statement_timestamp())) AS due
    FROM :table AS t
    WHERE t.due IS NOT NULL
        AND t.due <= statement_timestamp()
    ORDER BY t.due, t.id
    LIMIT $1::int8
)
SELECT
    c.waiting,
    c.running,
    c.looked >= $1::int8,
    coalesce(o.due::text, ''),
    coalesce(date_part('epoch', statement_timestamp() - o.due), 0),
    coalesce(o.id, 0),
    coalesce("left"(o."group", 1000), '')
FROM (
    SELECT
        count(*) AS looked,
        count(CASE WHEN d.state = 'PLAN' THEN 1 END) AS waiting,
        count(CASE WHEN d.state = 'WORK' THEN 1 END) + (
            SELECT count(*)
            FROM :table AS t
            WHERE :stopping
        ) AS running
    FROM due AS d
) AS c
LEFT JOIN (
    SELECT d.id, d."group", d.due
    FROM due AS d
    WHERE d.state = 'PLAN'
    ORDER BY d.due, d.id
    LIMIT 1
) AS o ON true
