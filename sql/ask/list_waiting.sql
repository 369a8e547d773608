-- The tasks that wait or run and pass the filter, newest first. If they are few, this avoids
-- reading all other tasks as list.sql does.
-- $1 states, $2 group, $3 key, $4 since, $5 most rows, $6 most tasks to look at
SELECT
    :task
FROM (
    SELECT w.*
    FROM :table AS w
    WHERE w.due IS NOT NULL
    ORDER BY w.due, w.id
    LIMIT $6::int8
) AS t
WHERE :filter
ORDER BY t.id DESC
LIMIT $5::int8
