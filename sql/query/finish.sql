-- Writes the ends of tasks whose own transaction is over. Each must still be as it was read, or as
-- its mark left it.
-- $1 ids, $2 versions of the rows that were read, $3 pids of the sessions, $4 done, $5 starts, $6
-- stops, $7 outputs, $8 errors,
-- $9 SQLSTATEs, $10 notices, $11 whether effects happen exactly once, $12 whether there is no retry,
-- $13 whether the output and notices are in the row already, $14 transactions with which the rows are prepared
WITH ended AS MATERIALIZED (
    SELECT e.*, t.part, t.place
    FROM (
        SELECT *
        FROM ROWS FROM (
            unnest($1::int8[]),
            unnest($2::int4[]),
            unnest($3::int4[]),
            unnest($4::bool[]),
            unnest($5::timestamptz[]),
            unnest($6::timestamptz[]),
            unnest($7::text[]),
            unnest($8::text[]),
            unnest($9::text[]),
            unnest($10::text[]),
            unnest($11::bool[]),
            unnest($12::bool[]),
            unnest($13::bool[]),
            unnest($14::int8[])
        ) AS u (id, version, pid, done, start, stop, output, error, sqlstate, notice, atomic, last, keeps, xact)
        ORDER BY u.id
    ) AS e
    CROSS JOIN LATERAL ( -- looked up one by one, whatever the statistics say
        SELECT t.tableoid AS part, t.ctid AS place
        FROM :table AS t
        WHERE t.id >= e.id
            AND t.id <= e.id
            AND :to_end
            AND (
                e.last
                OR (:attempt)::int8 - t.interrupted > t.retry
            )
        ORDER BY t.id
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS t
)
UPDATE :table AS t
SET
    state = CASE WHEN e.done THEN 'DONE' WHEN :xact_of_t IS NOT NULL AND t.stopping THEN 'STOP' WHEN true THEN 'FAIL' ELSE t.state END,
    start = e.start,
    stop = e.stop,
    pid = e.pid,
    output = coalesce(e.output, CASE WHEN e.keeps THEN t.output END),
    error = e.error,
    sqlstate = e.sqlstate,
    notice = coalesce(e.notice, CASE WHEN e.keeps THEN t.notice END),
    atomic = e.atomic,
    attempt = :attempt,
    :without_xact
    stopping = CASE WHEN :followed THEN t.stopping END -- which the repetition takes up
FROM ended AS e
WHERE t.ctid = e.place
    AND t.tableoid = e.part
RETURNING
    t.id,
    t.state <> ALL ('{TAKE,WORK}') AND (t.state <> 'PLAN' OR t.start IS NOT NULL), -- false: a trigger has kept the row as it was
    :followed,
    t."delete" AND t.output IS NULL AND t.error IS NULL
