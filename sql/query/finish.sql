-- Writes the ends of tasks whose own transaction is over. Each must still be as its owner left it.
-- $1 ids, $2 pids of the controllers that took them, $3 pids of the sessions, $4 done, $5 starts, $6 stops, $7 outputs, $8 errors,
-- $9 SQLSTATEs, $10 notices, $11 whether effects and end commit together
WITH ended AS MATERIALIZED (
    SELECT e.*
    FROM (
        SELECT *
        FROM unnest($1::int8[], $2::int4[], $3::int4[], $4::bool[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::text[],
            $9::text[], $10::text[], $11::bool[])
            AS u (id, owner, pid, done, start, stop, output, error, sqlstate, notice, atomic)
        ORDER BY u.id
    ) AS e
    CROSS JOIN LATERAL ( -- looked up one by one, whatever the statistics say
        SELECT
        FROM :table AS t
        WHERE t.id = e.id
            AND (t.state = 'TAKE' AND t.pid = e.owner OR t.state = 'WORK' AND t.pid = e.pid)
            AND (e.done OR t.attempt::int8 - t.interrupted > t.retry)
        FOR UPDATE SKIP LOCKED
    ) AS t
)
UPDATE :table AS t
SET
    state = (CASE WHEN e.done THEN 'DONE' ELSE 'FAIL' END)::text:::state,
    start = e.start,
    stop = e.stop,
    pid = e.pid,
    output = e.output,
    error = e.error,
    sqlstate = e.sqlstate,
    notice = e.notice,
    atomic = e.atomic
FROM ended AS e
WHERE t.id = e.id
RETURNING
    t.id,
    t.repeat > '0',
    t."delete" AND t.output IS NULL AND t.error IS NULL
