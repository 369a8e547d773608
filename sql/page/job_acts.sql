-- Who has paused tasks by the page, among its newest acts.
-- $1 ids of tasks, $2 how many acts to look at
SELECT a.task, a.by
FROM (
    SELECT n.task, n.by, n."do", row_number() OVER (PARTITION BY n.task ORDER BY n.id DESC) AS nth
    FROM (
        SELECT c.id, c.task, c.by, c."do"
        FROM :its_act AS c
        ORDER BY c.id DESC
        LIMIT $2::int8
    ) AS n
    WHERE n.task = ANY ($1::int8[])
) AS a
WHERE a.nth = 1
    AND a."do" = 'pause'
