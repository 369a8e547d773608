-- How many of the newest tasks have FAILed within 24 hours, and whether there may be older tasks.
-- $1 most tasks to look at
SELECT
    count(CASE WHEN n.state = 'FAIL' AND n.stop > (statement_timestamp() - '24 hours'::interval) THEN 1 END),
    count(*) >= $1::int8
FROM (
    SELECT t.state, t.stop
    FROM :table AS t
    ORDER BY t.id DESC
    LIMIT $1::int8
) AS n
