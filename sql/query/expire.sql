-- Gives up tasks that have never started within the time in active.
-- $1 ids, $2 whether to write no texts
WITH expired AS MATERIALIZED (
    SELECT x.part, x.place
    FROM unnest($1::int8[]) AS l (id)
    CROSS JOIN LATERAL (
        SELECT t.tableoid AS part, t.ctid AS place
        FROM :table AS t
        WHERE t.id BETWEEN l.id AND l.id
            AND t.state = 'PLAN'
            AND t.attempt = 0
            AND t.active > '0'
            AND t.max >= 0
            AND t.catchup = 0
            AND t.due > '-infinity'
            AND t.due <= statement_timestamp()
            AND greatest(:base, t.freed) + least(t.active, '10000 years') < statement_timestamp()
        ORDER BY t.id
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS x
)
UPDATE :table AS t
SET
    state = 'GONE',
    start = statement_timestamp(),
    stop = statement_timestamp(),
    error = CASE WHEN $2::bool THEN t.error ELSE concat(
        E'ERROR:  task not active\nDETAIL:  not started within active (',
        :active_shown,
        ') of ',
        CASE WHEN t.freed > :base THEN 'the end of the tasks in after' ELSE 'its plan' END
    ) END
FROM expired AS e
WHERE t.ctid = e.place
    AND t.tableoid = e.part
RETURNING
    CASE WHEN t.state <> 'PLAN' THEN t.id END, -- NULL: a trigger has kept the row as it was
    :followed,
    :last_words
