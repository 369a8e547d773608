-- Which of these tasks wait for one that did not end well. Looks for 20 ms, or at one task: those
-- that it has not come to are returned as late.
-- $1 ids, $2 tasks that did not end well
SELECT f.id, f.late
FROM (
    SELECT t.id, t.after, clock_timestamp() > (SELECT clock_timestamp() + '20 ms') AS late
    FROM unnest($1::int8[]) AS l (id)
    CROSS JOIN LATERAL (
        SELECT t.id, t.after
        FROM :table AS t
        WHERE t.id >= l.id
            AND t.id <= l.id
            AND t.awaits IS NOT NULL
        ORDER BY t.id
    ) AS t
) AS f
WHERE CASE WHEN NOT f.late THEN (
        SELECT bool_or(a.id = ANY (SELECT i.id FROM unnest($2::int8[]) AS i (id)))
        FROM unnest(f.after) AS a (id)
    ) ELSE true END
