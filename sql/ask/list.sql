-- The tasks in a range of ids that pass the filter, newest first.
-- $1 states, $2 group (a final % matches all groups with that prefix), $3 key, $4 since, $5 and $6
-- least and greatest id, $7 most rows
SELECT
    :task
FROM :table AS t
WHERE t.id BETWEEN $5::int8 AND $6::int8
    AND :filter
ORDER BY t.id DESC
LIMIT $7::int8
