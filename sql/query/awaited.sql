-- Which tasks others wait for, in the order of their ids: whether each has ended, or is gone; and
-- what it waits for itself, unless several rows have its id. It is gone, too, where another row has
-- its id now: as the first of those that wait for it tells, unless its after is long.
-- $1 behind which id, $2 most tasks
WITH RECURSIVE awaited AS (
    (
        SELECT t.awaits AS id, t.after, t.met, 1 AS n
        FROM :table AS t
        WHERE t.awaits IS NOT NULL
            AND t.awaits OPERATOR(pg_catalog.>) $1
        ORDER BY t.awaits
        LIMIT 1
    )
    UNION ALL
    SELECT next.id, next.after, next.met, a.n OPERATOR(pg_catalog.+) 1
    FROM awaited AS a
    CROSS JOIN LATERAL (
        SELECT t.awaits AS id, t.after, t.met
        FROM :table AS t
        WHERE t.awaits IS NOT NULL
            AND t.awaits OPERATOR(pg_catalog.>) a.id
        ORDER BY t.awaits
        LIMIT 1
    ) AS next
    WHERE a.n OPERATOR(pg_catalog.<) $2
)
SELECT
    a.id,
    coalesce(t.ended, true) OR CASE WHEN pg_catalog.pg_column_size(a.after) OPERATOR(pg_catalog.<=) 1000 THEN (
        SELECT pg_catalog.bool_or(m.met OPERATOR(pg_catalog.<>) ALL (t.created))
        FROM ROWS FROM (pg_catalog.unnest(a.after), pg_catalog.unnest(a.met)) AS m (id, met)
        WHERE m.id OPERATOR(pg_catalog.=) a.id
    ) END IS TRUE,
    CASE WHEN t.n OPERATOR(pg_catalog.=) 1 THEN t.awaits END
FROM awaited AS a
LEFT JOIN LATERAL (
    SELECT pg_catalog.bool_or(t.ended) AS ended, pg_catalog.max(t.awaits) AS awaits, pg_catalog.count(*) AS n, pg_catalog.array_agg(t.created) AS created
    FROM (
        SELECT (:over) AS ended, CASE WHEN t.after IS NOT NULL THEN t.awaits END AS awaits, coalesce(t.created, '-infinity') AS created
        FROM :table AS t
        WHERE t.id OPERATOR(pg_catalog.>=) a.id
            AND t.id OPERATOR(pg_catalog.<=) a.id
        ORDER BY t.id
    ) AS t
) AS t ON true
