-- Writes the ends of tasks that were cancelled because somebody had set them to STOP.
-- $1 ids, $2 pids, $3 starts, $4 stops, $5 errors, $6 SQLSTATEs, $7 notices
WITH ended AS MATERIALIZED (
    SELECT e.*
    FROM unnest($1::int8[], $2::int4[], $3::timestamptz[], $4::timestamptz[], $5::text[], $6::text[], $7::text[])
        AS e (id, pid, start, stop, error, sqlstate, notice)
    JOIN :table AS t USING (id)
    WHERE t.state = 'STOP' AND t.stop IS NULL
    ORDER BY t.id
    FOR UPDATE OF t SKIP LOCKED
)
UPDATE :table AS t
SET
    start = e.start,
    stop = e.stop,
    stopping = NULL,
    pid = e.pid,
    output = NULL,
    error = e.error,
    sqlstate = e.sqlstate,
    notice = e.notice
FROM ended AS e
WHERE t.id = e.id
RETURNING t.id
