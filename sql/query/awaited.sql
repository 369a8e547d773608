-- Which tasks others wait for, in the order of their ids: whether each has ended, or is gone; and
-- what it waits for itself, unless several rows have its id.
-- $1 behind which id, $2 most tasks
WITH RECURSIVE awaited AS (
    (
        SELECT t.awaits AS id, 1 AS n
        FROM :table AS t
        WHERE t.awaits IS NOT NULL
            AND t.awaits OPERATOR(pg_catalog.>) $1
        ORDER BY t.awaits
        LIMIT 1
    )
    UNION ALL
    SELECT after.id, a.n OPERATOR(pg_catalog.+) 1
    FROM awaited AS a
    CROSS JOIN LATERAL (
        SELECT t.awaits AS id
        FROM :table AS t
        WHERE t.awaits IS NOT NULL
            AND t.awaits OPERATOR(pg_catalog.>) a.id
        ORDER BY t.awaits
        LIMIT 1
    ) AS after
    WHERE a.n OPERATOR(pg_catalog.<) $2
)
SELECT
    a.id,
    coalesce(t.ended, true),
    CASE WHEN t.n OPERATOR(pg_catalog.=) 1 THEN t.awaits END
FROM awaited AS a
LEFT JOIN LATERAL (
    SELECT pg_catalog.bool_or(t.ended) AS ended, pg_catalog.max(t.awaits) AS awaits, pg_catalog.count(*) AS n
    FROM (
        SELECT (:over) AS ended, CASE WHEN t.after IS NOT NULL THEN t.awaits END AS awaits
        FROM :table AS t
        WHERE t.id OPERATOR(pg_catalog.>=) a.id
            AND t.id OPERATOR(pg_catalog.<=) a.id
        ORDER BY t.id
    ) AS t
) AS t ON true
