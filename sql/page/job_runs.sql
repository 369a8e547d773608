-- The runs before each job's task, found by its parents: the task itself and those that it repeats.
-- Only the newest two show their error.
-- $1 ids of the jobs' tasks, $2 most runs of each
WITH RECURSIVE chain AS (
    SELECT h.id AS head, t.id, t.parent, t.start, t.stop, t.state, t.error, 1 AS nth
    FROM unnest($1::int8[]) AS h (id)
    JOIN :table AS t ON t.id = h.id
    UNION ALL
    SELECT c.head, p.id, p.parent, p.start, p.stop, p.state, p.error, c.nth + 1
    FROM chain AS c
    JOIN :table AS p ON p.id = c.parent AND p.next = c.id
    WHERE c.nth <= $2::int8
)
SELECT
    c.head,
    NULL::text AS key,
    c.id,
    c.start,
    c.stop,
    c.state::text AS state,
    CASE WHEN c.nth <= 2 THEN left(split_part(c.error, E'\n', 1), 1000) END AS error
FROM chain AS c
WHERE c.start IS NOT NULL OR c.stop IS NOT NULL
