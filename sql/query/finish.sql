-- Writes the ends of tasks whose own transaction is over. Each must still be as it was read, or as
-- its mark left it.
-- $1 ids, $2 versions of the rows that were read, $3 pids of the sessions, $4 done, $5 starts, $6
-- stops, $7 outputs, $8 errors,
-- $9 SQLSTATEs, $10 notices, $11 whether effects and end commit together, $12 whether there is no
-- retry, $13 whether what is NULL here stays as it is
WITH ended AS MATERIALIZED (
    SELECT e.*, t.part, t.place
    FROM (
        SELECT *
        FROM ROWS FROM (
            pg_catalog.unnest($1::pg_catalog.int8[]),
            pg_catalog.unnest($2::pg_catalog.int4[]),
            pg_catalog.unnest($3::pg_catalog.int4[]),
            pg_catalog.unnest($4::pg_catalog.bool[]),
            pg_catalog.unnest($5::pg_catalog.timestamptz[]),
            pg_catalog.unnest($6::pg_catalog.timestamptz[]),
            pg_catalog.unnest($7::pg_catalog.text[]),
            pg_catalog.unnest($8::pg_catalog.text[]),
            pg_catalog.unnest($9::pg_catalog.text[]),
            pg_catalog.unnest($10::pg_catalog.text[]),
            pg_catalog.unnest($11::pg_catalog.bool[]),
            pg_catalog.unnest($12::pg_catalog.bool[]),
            pg_catalog.unnest($13::pg_catalog.bool[])
        ) AS u (id, version, pid, done, start, stop, output, error, sqlstate, notice, atomic, last, keeps)
        ORDER BY u.id
    ) AS e
    CROSS JOIN LATERAL ( -- looked up one by one, whatever the statistics say
        SELECT t.tableoid AS part, t.ctid AS place
        FROM :table AS t
        WHERE t.id OPERATOR(pg_catalog.>=) e.id
            AND t.id OPERATOR(pg_catalog.<=) e.id
            AND :as_read
            AND (
                e.last
                OR (:attempt)::pg_catalog.int8 OPERATOR(pg_catalog.-) t.interrupted OPERATOR(pg_catalog.>) t.retry
            )
        ORDER BY t.id
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS t
)
UPDATE :table AS t
SET
    state = CASE WHEN e.done THEN 'DONE' WHEN true THEN 'FAIL' ELSE t.state END,
    start = e.start,
    stop = e.stop,
    pid = e.pid,
    output = coalesce(e.output, CASE WHEN e.keeps THEN t.output END),
    error = coalesce(e.error, CASE WHEN e.keeps THEN t.error END),
    sqlstate = coalesce(e.sqlstate, CASE WHEN e.keeps THEN t.sqlstate END),
    notice = coalesce(e.notice, CASE WHEN e.keeps THEN t.notice END),
    atomic = e.atomic,
    attempt = :attempt
FROM ended AS e
WHERE t.ctid OPERATOR(pg_catalog.=) e.place
    AND t.tableoid OPERATOR(pg_catalog.=) e.part
RETURNING
    t.id OPERATOR(pg_catalog./) ( -- an error where a trigger has kept the row as it was
        t.state OPERATOR(pg_catalog.<>) ALL ('{TAKE,WORK}')
        AND (t.state OPERATOR(pg_catalog.<>) 'PLAN' OR t.start IS NOT NULL)
    )::pg_catalog.int4,
    :followed,
    t."delete" AND t.output IS NULL AND t.error IS NULL
