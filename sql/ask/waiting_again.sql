-- Tasks that have begun and wait to begin again, and those that wait for these: how many, and the
-- first of them with the reason. An awaited task that has ended no longer counts.
-- $1 most tasks to look at, $2 most to return
WITH RECURSIVE again AS (
    SELECT d.id
    FROM (
        SELECT t.id, t.state, t.attempt, t.base
        FROM :table AS t
        WHERE t.due IS NOT NULL
            AND t.due < 'infinity'
        ORDER BY t.due, t.id
        LIMIT $1::int8
    ) AS d
    WHERE d.state = 'PLAN'
        AND (d.attempt > 0 OR d.base IS NOT NULL)
    UNION
    SELECT w.id
    FROM again AS a
    CROSS JOIN LATERAL (
        SELECT w.id
        FROM :table AS w
        WHERE w.awaits = a.id
            AND w.state = 'PLAN'
        ORDER BY w.awaits, w.awaited, w.priority DESC, w.id
    ) AS w
)
SELECT
    count(*) OVER (),
    t.id,
    left(t."group", 1000),
    CASE WHEN t.awaits IS NULL THEN date_trunc('second', t.plan)::text ELSE '' END,
    coalesce(t.awaits, 0),
    left(coalesce(t.error, ''), 1000)
FROM again AS a
CROSS JOIN LATERAL (
    SELECT t.id, t."group", t.plan, t.awaits, t.error
    FROM :table AS t
    WHERE t.id BETWEEN a.id AND a.id
    ORDER BY t.id
) AS t
ORDER BY t.id
LIMIT $2::int8
