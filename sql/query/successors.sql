-- The tasks that wait for tasks which have ended, in the order in which they start: higher priority
-- first.
-- $1 ids of the ended tasks, $2 most successors of each
SELECT e.id, t.id
FROM unnest($1::int8[]) AS e (id)
CROSS JOIN LATERAL (
    SELECT t.id
    FROM :table AS t
    WHERE t.awaits IS NOT NULL
        AND t.awaits BETWEEN e.id AND e.id
        AND t.after IS NOT NULL
    ORDER BY t.awaits, t.awaited, t.priority DESC, t.id
    LIMIT $2
) AS t
