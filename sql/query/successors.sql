-- Who waits for tasks that have ended, in the order in which they start: higher priority first.
-- $1 ids of those that have ended, $2 created of each ('': of whichever row with that id), $3 most
-- successors of each
SELECT e.id, e.created, t.id
FROM ROWS FROM (
    unnest($1::int8[]),
    unnest($2::text[])
) AS e (id, created)
CROSS JOIN LATERAL (SELECT CASE WHEN e.created <> '' THEN e.created::timestamptz END AS created) AS r
CROSS JOIN LATERAL (
    SELECT t.id
    FROM :table AS t
    WHERE t.awaits IS NOT NULL
        AND t.awaits >= e.id
        AND t.awaits <= e.id
        AND t.awaited >= coalesce(r.created, '-infinity')
        AND t.awaited <= coalesce(r.created, 'infinity')
        AND t.after IS NOT NULL
    ORDER BY t.awaits, t.awaited, t.priority DESC, t.id
    LIMIT $3
) AS t
