-- Writes the ends of tasks whose own transaction has ended. Each row must still be as it was read,
-- as its mark left it, or as somebody has stopped it. Failed tasks with retries left go back to
-- PLAN, after a delay that doubles or that the task asked for, unless another task waits with the
-- key by now.
-- $1 ids, $2 versions of the rows that were read, $3 pids of the sessions, $4 done, $5 starts, $6
-- stops, $7 outputs, $8 errors, $9 SQLSTATEs, $10 notices, $11 whether effects happen exactly once,
-- $12 whether to allow no retry, $13 whether a column stays as it is where the value here is NULL,
-- $14 transactions with which the rows are prepared, $15 delays that tasks have asked for, $16
-- whether the run was cancelled after a STOP
WITH ended AS MATERIALIZED (
    SELECT e.*, t.part, t.place, t.attempt, t.stopped, t.again, w.id AS rival, t.again AND w.id IS NULL AS waits
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
            unnest($14::int8[]),
            unnest($15::interval[]),
            unnest($16::bool[])
        ) AS u (id, version, pid, done, start, stop, output, error, sqlstate, notice, atomic, last, keeps, xact, pause, cancelled)
        ORDER BY u.id
    ) AS e
    CROSS JOIN LATERAL ( -- one lookup for each, whatever the statistics say
        SELECT t.tableoid AS part, t.ctid AS place, t.id, t.key, :attempt AS attempt, s.stopped,
            NOT (e.done OR e.last OR s.stopped) AND (:attempt)::int8 - t.interrupted <= t.retry AS again
        FROM :table AS t
        CROSS JOIN LATERAL (SELECT (t.state = 'STOP' OR t.xact IS NOT NULL AND t.stopping) IS TRUE AS stopped) AS s
        WHERE t.id BETWEEN e.id AND e.id
            AND (
                :to_end
                OR e.cancelled
                AND t.state = 'STOP'
                AND t.stop IS NULL
                AND (t.stopping OR t.start IS NOT NULL) -- else the task was waiting, and is paused
            )
        ORDER BY t.id
        FOR NO KEY UPDATE OF t SKIP LOCKED
    ) AS t
    LEFT JOIN LATERAL (
        :rival
    ) AS w ON true
)
UPDATE :table AS t
SET
    state = CASE
        WHEN e.done THEN 'DONE'
        WHEN e.stopped THEN 'STOP'
        WHEN e.waits THEN 'PLAN'
        WHEN e.again THEN 'GONE'
        WHEN true THEN 'FAIL'
        ELSE t.state
    END,
    start = CASE WHEN NOT e.waits THEN e.start END,
    stop = CASE WHEN NOT e.waits THEN e.stop END,
    pid = e.pid,
    output = coalesce(e.output, CASE WHEN e.keeps THEN t.output END),
    error = CASE
        WHEN e.error IS NULL AND e.keeps AND NOT e.done THEN t.error
        WHEN e.rival IS NULL THEN e.error
        ELSE 'ERROR:  superseded by task ' || e.rival::text || coalesce(E'\nDETAIL:  ' || replace(e.error, E'\n', E'\n\t'), '')
    END,
    sqlstate = CASE WHEN e.error IS NULL AND e.keeps AND NOT e.done THEN t.sqlstate ELSE e.sqlstate END,
    notice = coalesce(e.notice, CASE WHEN e.keeps THEN t.notice END),
    atomic = e.atomic,
    attempt = e.attempt,
    xact = NULL,
    xact_at = NULL,
    stopping = CASE WHEN e.done AND :followed THEN t.stopping END, -- the repetition applies it
    base = CASE WHEN e.waits THEN coalesce(t.base, t.plan) ELSE t.base END,
    plan = CASE WHEN e.waits THEN e.stop + coalesce(
        e.pause,
        (0.9 + (0.2 * random()))
        * least(
            least(t.backoff, '1 day')
                * power(2, least(greatest(e.attempt::int8 - t.interrupted - 1, 0), 20)),
            '1 day'
        )
    ) ELSE t.plan END,
    runs = CASE WHEN e.waits THEN
        :earlier_runs
        || jsonb_build_object('start', e.start, 'stop', e.stop, 'pid', e.pid, 'state', 'FAIL', 'error', left(e.error, 1000), 'cause', 'retry')
    ELSE t.runs END
FROM ended AS e
WHERE t.ctid = e.place
    AND t.tableoid = e.part
RETURNING
    CASE WHEN t.state <> ALL ('{TAKE,WORK}') AND (t.state <> 'PLAN' OR t.start IS NOT NULL OR e.waits AND t.attempt = e.attempt) THEN t.id END, -- NULL: a trigger has kept the row as it was
    NOT e.waits AND :followed,
    :last_words
