-- Those of these tasks whose rows are prepared with a transaction on their remote: only that can tell
-- how it has ended.
-- $1 ids
SELECT
    t.id,
    coalesce(t.remote, ''), -- somebody has set it to null since
    t.xact,
    t.xact_at,
    coalesce(t.stop, t.start):role_away
FROM unnest($1::int8[]) AS l (id)
CROSS JOIN LATERAL ( -- one lookup for each, whatever the statistics say
    SELECT *
    FROM :table AS r
    WHERE r.id BETWEEN l.id AND l.id
    ORDER BY r.id
) AS t
WHERE t.state = 'WORK'
    AND t.xact IS NOT NULL
    AND :away
