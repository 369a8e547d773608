-- The tasks of a stretch of ids that pass the filter, newest first.
-- $1 states, $2 group (one that ends in % means all that begin so), $3 key, $4 since, $5 and $6 the
-- least and the greatest id, $7 most rows
SELECT
    :task
FROM :table AS t
WHERE t.id BETWEEN $5::int8 AND $6::int8
    AND :filter
ORDER BY t.id DESC
LIMIT $7::int8
