-- Tasks around a task: its parent and its next repetition, some of the tasks in its after, and some
-- of those that wait for it. A task without a state is gone.
-- $1 id, $2 most of each kind
SELECT
    r.kind, r.id, p.state::text AS state, p.key, left(p."group", 200) AS "group", p.plan, p.start, p.stop,
    coalesce(p.next = t.id, false) AS repeats
FROM :table AS t
CROSS JOIN LATERAL (
    SELECT 'parent' AS kind, t.parent::int8 AS id, NULL::timestamptz AS met
    UNION ALL
    SELECT 'next', t.next, NULL
    UNION ALL
    SELECT 'after', a.id, a.met
    FROM unnest(t.after[1:$2::int4], t.met[1:$2::int4]) AS a (id, met)
    UNION ALL
    (
        SELECT 'waits', f.id, NULL
        FROM :table AS f
        WHERE f.awaits = t.id
        ORDER BY f.awaits, f.awaited, f.priority DESC, f.id
        LIMIT $2::int8
    )
    UNION ALL
    -- those that wait for another task first, among the next ones that run after others
    (
        SELECT 'waits', f.id, NULL
        FROM (
            SELECT l.id, l.after, l.awaits
            FROM :table AS l
            WHERE l.stop IS NULL AND l.after IS NOT NULL AND l.id > t.id
            ORDER BY l.id
            LIMIT 1000
        ) AS f
        WHERE t.id = ANY (f.after) AND f.awaits IS DISTINCT FROM t.id
        LIMIT $2::int8
    )
) AS r
LEFT JOIN LATERAL (
    SELECT p.*
    FROM :table AS p
    WHERE p.id = r.id AND (r.met IS NULL OR p.created = r.met)
    LIMIT 1
) AS p ON true
WHERE t.id = $1::int8 AND r.id IS NOT NULL
