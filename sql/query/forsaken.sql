-- Gives up tasks that wait for tasks which did not end well, or that wait in a cycle.
-- $1 ids, $2 why; $3 the task that each must still wait for, or $4 the version of the row that was
-- read, which names a task that did not end well; $5 whether to write no texts
WITH forsaken AS MATERIALIZED (
    SELECT l.error, t.part, t.place
    FROM (
        SELECT *
        FROM ROWS FROM (
            unnest($1::int8[]),
            unnest($2::text[]),
            unnest($3::int8[]),
            unnest($4::int4[])
        ) AS u (id, error, awaits, version)
        ORDER BY u.id
    ) AS l
    CROSS JOIN LATERAL (
        SELECT t.tableoid AS part, t.ctid AS place
        FROM :table AS t
        WHERE t.id BETWEEN l.id AND l.id
            AND t.after IS NOT NULL
            AND (t.freed IS NULL OR t.awaits IS NOT NULL)
            AND (t.state = 'PLAN' OR t.state = 'STOP' AND t.stop IS NULL AND t.stopping IS NULL)
            AND (t.xmin = l.version OR t.awaits = l.awaits)
        ORDER BY t.id
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS t
)
UPDATE :table AS t
SET
    state = 'GONE',
    start = statement_timestamp(),
    stop = statement_timestamp(),
    awaits = NULL,
    freed = NULL,
    error = CASE WHEN $5::bool THEN t.error ELSE f.error END
FROM forsaken AS f
WHERE t.ctid = f.place
    AND t.tableoid = f.part
RETURNING
    CASE WHEN t.state = 'GONE' THEN t.id END, -- NULL: a trigger has kept the row as it was
    :followed,
    :last_words
