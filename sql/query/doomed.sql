-- Which of these tasks wait for one that did not end well. Looks for 20 ms, or at one task: those
-- that it has not come to are returned as late.
-- $1 ids, $2 tasks that did not end well
SELECT f.id, f.late
FROM (
    SELECT t.id, t.after, pg_catalog.clock_timestamp() OPERATOR(pg_catalog.>) (SELECT pg_catalog.clock_timestamp() OPERATOR(pg_catalog.+) '20 ms') AS late
    FROM pg_catalog.unnest($1::pg_catalog.int8[]) AS l (id)
    CROSS JOIN LATERAL (
        SELECT t.id, t.after
        FROM :table AS t
        WHERE t.id OPERATOR(pg_catalog.>=) l.id
            AND t.id OPERATOR(pg_catalog.<=) l.id
            AND t.awaits IS NOT NULL
        ORDER BY t.id
    ) AS t
) AS f
WHERE CASE WHEN NOT f.late THEN (
        SELECT pg_catalog.bool_or(a.id OPERATOR(pg_catalog.=) ANY (SELECT i.id FROM pg_catalog.unnest($2::pg_catalog.int8[]) AS i (id)))
        FROM pg_catalog.unnest(f.after) AS a (id)
    ) ELSE true END
