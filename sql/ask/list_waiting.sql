-- The tasks that wait or run and pass the filter, as in list, newest first. Where there are few of
-- them this saves a look at all others.
-- $1 states, $2 group, $3 key, $4 since, $5 most rows, $6 most tasks that are looked at
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
