-- How many of the tasks that are due first wait, how many run, and how many of the newest have
-- failed.
-- $1 most due tasks to look at, $2 newest tasks to look at
SELECT
    count(*) FILTER (WHERE d.state = 'PLAN'),
    count(*) FILTER (WHERE d.state <> 'PLAN'),
    (
        SELECT count(*) FILTER (WHERE n.state = 'FAIL')
        FROM (
            SELECT t.state, t.id
            FROM :table AS t
            ORDER BY t.id DESC
            LIMIT $2::int8
        ) AS n
    )
FROM (
    SELECT t.state
    FROM :table AS t
    WHERE t.due <= statement_timestamp()
    ORDER BY t.due, t.id
    LIMIT $1::int8
) AS d
