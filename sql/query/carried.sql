-- How many tasks of a copy wait, and how many were at work.
-- $1 most to count
SELECT
    count(*) FILTER (WHERE t.state = 'PLAN'),
    count(*) FILTER (WHERE t.state <> 'PLAN')
FROM (
    SELECT t.state
    FROM :table AS t
    WHERE t.due IS NOT NULL
    ORDER BY t.due
    LIMIT $1::int8
) AS t
