-- Which rows others wait for, in the order of their ids: whether each has ended, or is gone; whether
-- another one that has not ended has its id now; and what it waits for itself, unless several rows
-- have its id.
-- $1, $2 behind which row: its id, and created; $3 most rows; $4 whether from the first one on instead
WITH RECURSIVE awaited AS (
    (
        SELECT t.awaits AS id, t.awaited AS created, 1 AS n
        FROM :table AS t
        WHERE t.awaits IS NOT NULL
            AND t.awaited IS NOT NULL -- what somebody takes away is not looked at
            AND $4::bool
        ORDER BY t.awaits, t.awaited
        LIMIT 1
    )
    UNION ALL
    (
        SELECT t.awaits, t.awaited, 1
        FROM :table AS t
        WHERE t.awaits IS NOT NULL
            AND t.awaited IS NOT NULL
            AND NOT $4::bool
            AND (t.awaits, t.awaited) > ($1::int8, $2::text::timestamptz)
        ORDER BY t.awaits, t.awaited
        LIMIT 1
    )
    UNION ALL
    SELECT next.id, next.created, a.n + 1
    FROM awaited AS a
    CROSS JOIN LATERAL (
        SELECT t.awaits AS id, t.awaited AS created
        FROM :table AS t
        WHERE t.awaits IS NOT NULL
            AND t.awaited IS NOT NULL
            AND (t.awaits, t.awaited) > (a.id, a.created)
        ORDER BY t.awaits, t.awaited
        LIMIT 1
    ) AS next
    WHERE a.n < $3
)
SELECT
    a.id,
    r.created::text,
    x.ended,
    x.ended AND (t.open <> '{}') IS TRUE,
    CASE WHEN t.n = 1 AND NOT x.ended THEN t.awaits END
FROM (
    SELECT a.id, array_agg(a.created ORDER BY a.created) AS created
    FROM awaited AS a
    GROUP BY a.id
) AS a
CROSS JOIN LATERAL ( -- once for each id
    SELECT
        array_remove(array_agg(CASE WHEN t.over IS FALSE THEN t.created END), NULL) AS open,
        max(t.awaits) AS awaits,
        count(*) AS n
    FROM (
        SELECT (:over) AS over, CASE WHEN t.after IS NOT NULL THEN t.awaits END AS awaits, coalesce(t.created, '-infinity') AS created
        FROM :table AS t
        WHERE t.id >= a.id
            AND t.id <= a.id
        ORDER BY t.id
    ) AS t
) AS t
CROSS JOIN LATERAL unnest(a.created) AS r (created)
CROSS JOIN LATERAL (SELECT (r.created = ANY (t.open)) IS NOT TRUE AS ended) AS x
ORDER BY a.id, r.created
