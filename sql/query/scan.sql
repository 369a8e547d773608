-- The due tasks, waiting or under way, in the order of their plan, from a place in that order on. A
-- million rows may come, so the usual values come as NULL, which costs neither side anything: no
-- remote, max and priority 0, a task that waits. Group and remote come as keys (sql/part/key.sql).
-- $1 plan, $2 id (the place), $3 most rows
SELECT
    t.id,
    :key_of_group,
    :key_of_remote,
    CASE WHEN t.max <> 0 THEN t.max END,
    CASE WHEN t.priority <> 0 THEN t.priority END,
    t.due,
    :expired
FROM :table AS t
WHERE t.due IS NOT NULL
    AND (t.due, t.id) > ($1, $2::int8)
    AND t.due <= statement_timestamp()
ORDER BY t.due, t.id
LIMIT $3
