-- Returns failed tasks to PLAN that have retries left, with a delay that doubles, or that the task
-- has asked for. Each must still be as it was read, or as its mark left it.
-- $1 ids, $2 versions of the rows that were read, $3 pids of the sessions, $4 starts, $5 stops, $6
-- outputs, $7 errors, $8 SQLSTATEs,
-- $9 notices, $10 whether effects happen exactly once, $11 whether what is NULL here stays as it is,
-- $12 delays that tasks have asked for, $13 transactions with which the rows are prepared
WITH ended AS MATERIALIZED (
    SELECT e.*, t.part, t.place, t.attempt
    FROM (
        SELECT *
        FROM ROWS FROM (
            unnest($1::int8[]),
            unnest($2::int4[]),
            unnest($3::int4[]),
            unnest($4::timestamptz[]),
            unnest($5::timestamptz[]),
            unnest($6::text[]),
            unnest($7::text[]),
            unnest($8::text[]),
            unnest($9::text[]),
            unnest($10::bool[]),
            unnest($11::bool[]),
            unnest($12::interval[]),
            unnest($13::int8[])
        ) AS u (id, version, pid, start, stop, output, error, sqlstate, notice, atomic, keeps, pause, xact)
        ORDER BY u.id
    ) AS e
    CROSS JOIN LATERAL ( -- looked up one by one, whatever the statistics say
        SELECT t.tableoid AS part, t.ctid AS place, :attempt AS attempt
        FROM :table AS t
        WHERE t.id >= e.id
            AND t.id <= e.id
            AND :to_return
            AND t.stopping IS NOT TRUE
            AND (:attempt)::int8 - t.interrupted <= t.retry
        ORDER BY t.id
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS t
)
UPDATE :table AS t
SET
    state = 'PLAN',
    start = NULL,
    stop = NULL,
    pid = e.pid,
    output = coalesce(e.output, CASE WHEN e.keeps THEN t.output END),
    error = coalesce(e.error, CASE WHEN e.keeps THEN t.error END),
    sqlstate = coalesce(e.sqlstate, CASE WHEN e.keeps THEN t.sqlstate END),
    notice = coalesce(e.notice, CASE WHEN e.keeps THEN t.notice END),
    atomic = e.atomic,
    attempt = e.attempt,
    :without_xact
    base = coalesce(t.base, t.plan),
    plan = e.stop + coalesce(
        e.pause,
        (0.9 + (0.2 * random()))
        * least(
            least(t.backoff, '1 day')
                * power(2, least(greatest(e.attempt::int8 - t.interrupted - 1, 0), 20)),
            '1 day'
        )
    ),
    runs = :earlier_runs
        || jsonb_build_object('start', e.start, 'stop', e.stop, 'pid', e.pid, 'state', 'FAIL', 'error', left(e.error, 1000), 'cause', 'retry')
FROM ended AS e
WHERE t.ctid = e.place
    AND t.tableoid = e.part
RETURNING
    t.id,
    t.state <> ALL ('{TAKE,WORK}') AND t.attempt = e.attempt -- false: a trigger has kept the row as it was
