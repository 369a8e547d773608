-- Tasks that ran at once although no order of their starts allows it: sorted by max, the first may
-- run beside none, the second beside one, and so on. The real order of starts does not show in
-- which order the controller started them, since a session may take long to open. If nobody could
-- write the end of a run (08006), nobody knows when it ended: stop is when that was found. GONE
-- tasks have not run.
WITH known AS (
    SELECT "group", id, max, state, start, coalesce(stop, 'infinity') AS stop
    FROM task
    WHERE start IS NOT NULL AND state <> 'GONE' AND sqlstate IS DISTINCT FROM '08006'
), moment AS (
    SELECT "group", id, max, start AS at, 1 AS change FROM known
    UNION ALL
    SELECT "group", id, max, stop, -1 FROM known
), running AS (
    SELECT *, sum(change) OVER (PARTITION BY "group" ORDER BY at, change, id ROWS UNBOUNDED PRECEDING) - 1 AS others FROM moment
)
SELECT format('%s at the start of task %s: %s', r."group", r.id, s.seen)
FROM running AS r,
    LATERAL (
        SELECT
            bool_or(t.others > t.max) AS over,
            string_agg(format('%s (max %s, %s to %s, %s)', t.id, t.max, t.start, t.stop, t.state), ', ') AS seen
        FROM (
            SELECT *, row_number() OVER (ORDER BY max) - 1 AS others
            FROM known
            WHERE "group" = r."group" AND (id = r.id OR start <= r.at AND stop > r.at)
        ) AS t
    ) AS s
WHERE r.change = 1 AND r.others > r.max AND s.over
