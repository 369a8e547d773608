-- The errors of the newest rows by SQLSTATE and first line, the most frequent first. Errors may be
-- long, so it reads only the beginning of each; lines that begin alike for so long count as one. If
-- the time is over, the errors of the rest are one row that is late.
-- $1 newest rows, $2 how long it may take, $3 most rows
SELECT
    e.sqlstate,
    e.error,
    e.late,
    count(*) AS count,
    count(*) FILTER (WHERE e.state = 'FAIL') AS failed,
    count(*) FILTER (WHERE e.state = 'GONE') AS gone,
    count(*) FILTER (WHERE e.state = 'PLAN') AS waits,
    min(e.at) AS first,
    max(e.at) AS last,
    max(e.id) AS example
FROM (
    SELECT
        n.id,
        n.state,
        n.late,
        coalesce(n.stop, n.start, least(n.plan, statement_timestamp())) AS at,
        CASE WHEN NOT n.late THEN n.sqlstate END AS sqlstate,
        CASE WHEN NOT n.late THEN :page_line END AS error
    FROM (
        SELECT t.id, t.state, t.plan, t.start, t.stop, t.sqlstate::text AS sqlstate, t.error, clock_timestamp() > (statement_timestamp() + $2::interval) AS late
        FROM :table AS t
        ORDER BY t.id DESC
        LIMIT $1::int8
    ) AS n
    WHERE n.error IS NOT NULL
) AS e
GROUP BY e.sqlstate, e.error, e.late
ORDER BY e.late DESC, count DESC, last DESC
LIMIT $3::int8
