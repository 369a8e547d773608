-- Shows tasks as running. Each must still be taken by the controller that says so.
-- $1 ids, $2 pids of the controllers that took them, $3 pids of the sessions, $4 starts, $5 whether effects and end commit together
WITH begun AS MATERIALIZED (
    SELECT b.*
    FROM unnest($1::int8[], $2::int4[], $3::int4[], $4::timestamptz[], $5::bool[]) AS b (id, owner, pid, start, atomic)
    JOIN :table AS t USING (id)
    WHERE t.state = 'TAKE' AND t.pid = b.owner OR t.state = 'WORK' AND t.pid = b.pid
    ORDER BY t.id
    FOR UPDATE OF t SKIP LOCKED
)
UPDATE :table AS t
SET
    state = 'WORK',
    pid = b.pid,
    start = b.start,
    atomic = b.atomic
FROM begun AS b
WHERE t.id = b.id
RETURNING t.id
