-- Gives back tasks that have not run, or whose run was undone; that try does not count. With a
-- delay they wait and say why. A task is GONE if another task waits with its key by now.
-- $1 ids, $2 versions of the rows that were read, $3 pids of the sessions (or null), $4 delay (or
-- null), $5 error (or null), $6 SQLSTATE, $7 starts and $8 stops of runs that a drain has cancelled
-- (or null), $9 transactions with which the rows are prepared, $10 the cause to write into runs
WITH released AS MATERIALIZED (
    SELECT e.*, t.part, t.place, t.stopped, w.id AS rival, t.again AND w.id IS NULL AS waits
    FROM (
        SELECT *
        FROM ROWS FROM (
            unnest($1::int8[]),
            unnest($2::int4[]),
            unnest($3::int4[]),
            unnest($4::interval[]),
            unnest($5::text[]),
            unnest($6::text[]),
            unnest($7::timestamptz[]),
            unnest($8::timestamptz[]),
            unnest($9::int8[]),
            unnest($10::text[])
        ) AS u (id, version, pid, delay, error, sqlstate, start, stop, xact, cause)
        ORDER BY u.id
    ) AS e
    CROSS JOIN LATERAL ( -- one lookup for each, whatever the statistics say
        SELECT t.tableoid AS part, t.ctid AS place, t.id, t.key, s.stopped, NOT s.stopped AS again
        FROM :table AS t
        CROSS JOIN LATERAL (SELECT (t.stopping AND t.xact IS NOT NULL) IS TRUE AS stopped) AS s
        WHERE t.id BETWEEN e.id AND e.id
            AND :to_return
        ORDER BY t.id
        FOR NO KEY UPDATE OF t SKIP LOCKED
    ) AS t
    LEFT JOIN LATERAL (
        :rival
    ) AS w ON true
)
UPDATE :table AS t
SET
    state = CASE WHEN r.stopped THEN 'STOP' WHEN r.waits THEN 'PLAN' WHEN true THEN 'GONE' ELSE t.state END,
    pid = NULL,
    start = CASE WHEN r.rival IS NOT NULL THEN coalesce(t.start, statement_timestamp()) END,
    stop = CASE WHEN NOT r.waits THEN statement_timestamp() END,
    stopping = NULL,
    output = CASE WHEN t.xact IS NULL THEN t.output END,
    notice = CASE WHEN t.xact IS NULL THEN t.notice END,
    xact = NULL,
    xact_at = NULL,
    atomic = NULL,
    attempt = CASE WHEN t.state = 'PLAN' THEN t.attempt ELSE greatest(t.attempt - 1, 0) END,
    base = CASE WHEN r.delay IS NULL THEN t.base ELSE coalesce(t.base, t.plan) END,
    plan = CASE WHEN r.delay IS NULL THEN t.plan ELSE statement_timestamp() + r.delay END,
    error = CASE WHEN r.rival IS NOT NULL THEN 'ERROR:  superseded by task ' || r.rival::text ELSE coalesce(r.error, t.error) END,
    sqlstate = CASE WHEN r.error IS NULL THEN t.sqlstate ELSE r.sqlstate END,
    runs = CASE WHEN r.start IS NULL THEN t.runs ELSE
        :earlier_runs
        || jsonb_build_object('start', r.start, 'stop', r.stop, 'pid', r.pid, 'state', t.state, 'error', left(coalesce(r.error, t.error), 1000), 'cause', r.cause)
    END
FROM released AS r
WHERE t.ctid = r.place
    AND t.tableoid = r.part
RETURNING
    CASE WHEN t.state <> ALL ('{TAKE,WORK}') THEN t.id END, -- NULL: a trigger has kept it under way
    NOT r.waits AND :followed,
    :last_words
