-- Writes the ends of tasks that ran well, said nothing beside their output and do not repeat
-- themselves, and shows others as running: most of what happens, in one statement, as making an
-- UPDATE of the table ready takes as long as ten rows do. What it passes over, finish.sql and
-- mark.sql find out about; so a row may be looked up by its place, though it is missed when
-- somebody has just changed it.
-- $1 ids, $2 pids of the sessions, $3 starts, $4 stops (null: it starts now), $5 outputs, $6
-- whether effects and end commit together, $7 versions of the rows that were read, $8
-- whether it must be on the disk before it is answered
WITH turned AS MATERIALIZED (
    SELECT e.*, t.part, t.place
    FROM (
        SELECT *
        FROM ROWS FROM (
            unnest($1::int8[]),
            unnest($2::int4[]),
            unnest($3::timestamptz[]),
            unnest($4::timestamptz[]),
            unnest($5::text[]),
            unnest($6::bool[]),
            unnest($7::int4[])
        ) AS u (id, pid, start, stop, output, atomic, version)
        ORDER BY u.id
    ) AS e
    CROSS JOIN LATERAL ( -- looked up one by one, whatever the statistics say
        SELECT t.tableoid AS part, t.ctid AS place
        FROM :table AS t
        WHERE t.id >= e.id
            AND t.id <= e.id
            AND :as_read
            AND (
                e.stop IS NULL
                OR NOT :followed
            )
        ORDER BY t.id
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS t
)
UPDATE :table AS t
SET
    state = CASE WHEN e.stop IS NULL THEN 'WORK' WHEN true THEN 'DONE' ELSE t.state END,
    start = e.start,
    stop = e.stop,
    pid = e.pid,
    output = CASE WHEN e.stop IS NULL THEN t.output ELSE e.output END,
    error = CASE WHEN e.stop IS NULL THEN t.error END,
    sqlstate = CASE WHEN e.stop IS NULL THEN t.sqlstate END,
    notice = CASE WHEN e.stop IS NULL THEN t.notice END,
    atomic = e.atomic,
    attempt = :attempt
FROM turned AS e
WHERE t.ctid = e.place
    AND t.tableoid = e.part
    AND (SELECT NOT $8::bool OR :on_disk)
RETURNING
    t.id / ( -- an error where a trigger has kept the row as it was
        t.state <> ALL ('{TAKE,WORK}')
            AND (t.state <> 'PLAN' OR t.start IS NOT NULL)
        OR e.stop IS NULL AND t.state = 'WORK'
    )::int4,
    t.stop IS NOT NULL AND t."delete" AND t.output IS NULL
