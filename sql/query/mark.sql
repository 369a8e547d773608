-- Shows tasks as running. Each must still be taken by the controller that says so.
-- $1 ids, $2 pids of the controllers that took them, $3 pids of the sessions, $4 starts, $5 whether effects and end commit together
WITH begun AS MATERIALIZED (
    SELECT b.*
    FROM (
        SELECT *
        FROM unnest($1::int8[], $2::int4[], $3::int4[], $4::timestamptz[], $5::bool[]) AS u (id, owner, pid, start, atomic)
        ORDER BY u.id
    ) AS b
    CROSS JOIN LATERAL ( -- looked up one by one, whatever the statistics say
        SELECT
        FROM :table AS t
        WHERE t.id = b.id
            AND (t.state = 'TAKE' AND t.pid = b.owner OR t.state = 'WORK' AND t.pid = b.pid)
        FOR UPDATE SKIP LOCKED
    ) AS t
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
