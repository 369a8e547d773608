-- Writes the ends of tasks that were cancelled because somebody had set them to STOP.
-- $1 ids, $2 pids, $3 starts, $4 stops, $5 errors, $6 SQLSTATEs, $7 notices
UPDATE :table AS t
SET
    start = e.start,
    stop = e.stop,
    pid = e.pid,
    output = NULL,
    error = e.error,
    sqlstate = e.sqlstate,
    notice = e.notice
FROM unnest($1::int8[], $2::int4[], $3::timestamptz[], $4::timestamptz[], $5::text[], $6::text[], $7::text[])
    AS e (id, pid, start, stop, error, sqlstate, notice)
WHERE t.id = e.id
    AND t.state = 'STOP'
    AND t.stop IS NULL
RETURNING t.id
