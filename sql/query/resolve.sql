-- Looks at the tasks that others run after. If some of them have not ended, the task waits for a
-- random one of these. So a task waits for few, one after the other, in whatever order they end. If
-- all have ended well, the task is free, and its time counts from the last end. If one did not end
-- well, that one is returned with the row's version, and the row stays as it is. A task that
-- somebody else has ended stops waiting.
-- This takes 20 ms, or one task; the rest is returned as late. Tasks with short lists come first.
-- In a partitioned table several rows may have an id: then the oldest row of the same role counts.
-- The first look decides which rows these are, and keeps them in met: so no task waits for a new
-- row that gets the id of a deleted one.
-- $1 ids
WITH found AS MATERIALIZED (
    SELECT t.part, t.place, t.version, t.id, t.after, t.met, t.first, t.waits:role_kept
    FROM unnest($1::int8[]) AS l (id)
    CROSS JOIN LATERAL ( -- one lookup for each, whatever the statistics say
        SELECT t.tableoid AS part, t.ctid AS place, t.xmin AS version, t.id, t.after, t.met,
            t.freed IS NULL AND t.runs IS NULL OR (cardinality(t.met) = cardinality(t.after)) IS NOT TRUE AS first,
            t.state = 'PLAN' OR t.state = 'STOP' AND t.stop IS NULL AND t.stopping IS NULL AS waits:role_kept
        FROM :table AS t
        WHERE t.id BETWEEN l.id AND l.id
            AND t.after IS NOT NULL
            AND (t.freed IS NULL OR t.awaits IS NOT NULL)
            AND t.state <> ALL ('{TAKE,WORK}')
        ORDER BY t.id
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS t
    ORDER BY pg_column_size(t.after)
),
seen AS MATERIALIZED (
    SELECT
        f.part,
        f.place,
        f.version,
        f.id,
        f.waits,
        f.late,
        n.open[x.nth] AS awaits,
        n.created[x.nth] AS awaited,
        n.ill,
        n.state,
        n.freed,
        CASE WHEN f.first THEN n.met END AS met
    FROM (
        SELECT f.*, clock_timestamp() > (SELECT clock_timestamp() + '20 ms') AS late
        FROM found AS f
    ) AS f
    CROSS JOIN LATERAL (
        SELECT
            array_remove(array_agg(CASE WHEN p.over IS FALSE THEN a.id END), NULL) AS open,
            array_remove(array_agg(CASE WHEN p.over IS FALSE THEN p.created END), NULL) AS created,
            min(CASE WHEN p.over AND p.state <> 'DONE' THEN a.id END) AS ill,
            (array_remove(array_agg(CASE WHEN p.over AND p.state <> 'DONE' THEN p.state::text END ORDER BY a.id), NULL))[1] AS state,
            coalesce(max(CASE WHEN p.stop <= statement_timestamp() THEN p.stop ELSE statement_timestamp() END), statement_timestamp()) AS freed,
            array_agg(p.created ORDER BY a.nth) AS met
        FROM ROWS FROM (
            unnest(CASE WHEN NOT f.late THEN f.after END),
            unnest(CASE WHEN NOT f.late AND NOT f.first THEN f.met END)
        ) WITH ORDINALITY AS a (id, met, nth)
        LEFT JOIN LATERAL (
            SELECT t.state, t.stop, t.over, t.created
            FROM (
                SELECT t.state, t.stop, (:over) AS over, coalesce(t.created, '-infinity') AS created:role_kept
                FROM :table AS t
                WHERE t.id BETWEEN a.id AND a.id
                ORDER BY t.id
            ) AS t
            WHERE f.first
                OR t.created = a.met
            ORDER BY :role_of_f_first t.created
            LIMIT 1
        ) AS p ON true
    ) AS n
    CROSS JOIN LATERAL (SELECT 1 + floor(random() * cardinality(n.open))::int4 AS nth) AS x
),
moved AS (
    UPDATE :table AS t
    SET
        awaits = CASE WHEN s.waits THEN s.awaits END,
        freed = CASE WHEN NOT s.waits THEN '-infinity' WHEN s.awaits IS NULL THEN s.freed ELSE 'infinity' END,
        met = coalesce(s.met, t.met),
        awaited = coalesce(s.awaited, t.awaited)
    FROM seen AS s
    WHERE t.ctid = s.place
        AND t.tableoid = s.part
        AND NOT s.late
        AND NOT (s.waits AND s.ill IS NOT NULL)
    RETURNING
        t.id,
        (t.awaits IS NULL) = (NOT s.waits OR s.awaits IS NULL) AND t.freed IS NOT NULL AS moved, -- false: a trigger has kept the row as it was
        t.awaits,
        :key_of_group AS of_group,
        :key_of_remote AS of_remote,
        t.max,
        t.priority,
        t.state = 'PLAN' AND t.due <= statement_timestamp() AS ready
)
SELECT m.id, m.awaits, NULL::int8, NULL::text, NULL::xid, m.of_group, m.of_remote, m.max, m.priority, m.ready, false, m.moved
FROM moved AS m
UNION ALL
SELECT s.id, NULL, s.ill, s.state, s.version, NULL, NULL, 0, 0, false, s.late, true
FROM seen AS s
WHERE s.late
    OR s.waits AND s.ill IS NOT NULL
