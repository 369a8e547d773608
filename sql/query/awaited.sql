-- The tasks that other tasks wait for, in the order of their ids. For each: whether it has ended or
-- is gone, and what it waits for itself (NULL if several rows have its id).
-- $1 after which id, $2 most rows
WITH RECURSIVE awaited AS (
    (
        SELECT t.awaits AS id, 1 AS n
        FROM :table AS t
        WHERE t.awaits IS NOT NULL
            AND t.awaits > $1::int8
        ORDER BY t.awaits
        LIMIT 1
    )
    UNION ALL
    SELECT next.id, a.n + 1
    FROM awaited AS a
    CROSS JOIN LATERAL (
        SELECT t.awaits AS id
        FROM :table AS t
        WHERE t.awaits IS NOT NULL
            AND t.awaits > a.id
        ORDER BY t.awaits
        LIMIT 1
    ) AS next
    WHERE a.n < $2
)
SELECT a.id, t.ended, CASE WHEN t.n = 1 AND NOT t.ended THEN t.awaits END
FROM awaited AS a
CROSS JOIN LATERAL (
    SELECT
        bool_or(t.over IS FALSE) IS NOT TRUE AS ended,
        max(t.awaits) AS awaits,
        count(*) AS n
    FROM (
        SELECT (:over) AS over, CASE WHEN t.after IS NOT NULL THEN t.awaits END AS awaits
        FROM :table AS t
        WHERE t.id BETWEEN a.id AND a.id
        ORDER BY t.id
    ) AS t
) AS t
ORDER BY a.id
