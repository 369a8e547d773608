-- The newest acts of the page.
-- $1 whether data is hidden, $2 most rows
SELECT
    a.id,
    a.at,
    a.by,
    a."do",
    a.task,
    CASE WHEN octet_length(a.filter::text) <= 10000 THEN a.filter END AS filter,
    CASE WHEN NOT $1::bool THEN "left"(a.data, 10000) END AS data,
    a.matched,
    a.done,
    a.failed,
    "left"(a.error, 10000) AS error,
    a.stopped,
    a.ended
FROM :its_act AS a
ORDER BY a.id DESC
LIMIT $2::int8
