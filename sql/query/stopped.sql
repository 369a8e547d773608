-- Writes the ends of tasks that were cancelled because somebody had set them to STOP.
-- $1 ids, $2 pids, $3 starts, $4 stops, $5 errors, $6 SQLSTATEs, $7 notices, $8 whether what is
-- NULL here stays as it is, $9 transactions with which the rows are prepared
WITH ended AS MATERIALIZED (
    SELECT e.*, t.part, t.place
    FROM ROWS FROM (
        unnest($1::int8[]),
        unnest($2::int4[]),
        unnest($3::timestamptz[]),
        unnest($4::timestamptz[]),
        unnest($5::text[]),
        unnest($6::text[]),
        unnest($7::text[]),
        unnest($8::bool[]),
        unnest($9::int8[])
    ) AS e (id, pid, start, stop, error, sqlstate, notice, keeps, xact)
    CROSS JOIN LATERAL (
        SELECT t.tableoid AS part, t.ctid AS place
        FROM :table AS t
        WHERE t.id >= e.id
            AND t.id <= e.id
            AND CASE
                WHEN :xact_of_t IS NOT NULL
                    THEN t.state = 'WORK' AND t.stopping AND :xact_of_t = e.xact AND txid_status(e.xact) = 'aborted'
                ELSE t.state = 'STOP'
                    AND t.stop IS NULL
                    AND (t.stopping OR t.start IS NOT NULL) -- else it waited, and is paused
            END
        ORDER BY t.id
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS t
)
UPDATE :table AS t
SET
    state = CASE WHEN true THEN 'STOP' ELSE t.state END,
    start = e.start,
    stop = e.stop,
    stopping = NULL,
    :without_xact
    pid = e.pid,
    output = CASE WHEN e.keeps THEN t.output END,
    error = coalesce(e.error, CASE WHEN e.keeps THEN t.error END),
    sqlstate = coalesce(e.sqlstate, CASE WHEN e.keeps THEN t.sqlstate END),
    notice = coalesce(e.notice, CASE WHEN e.keeps THEN t.notice END)
FROM ended AS e
WHERE t.ctid = e.place
    AND t.tableoid = e.part
RETURNING
    t.id,
    t.notify IS NOT NULL,
    :last_words
