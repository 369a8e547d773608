-- Shows tasks as running. Each row must still be as it was read. A task that has ended, and that
-- somebody has set to PLAN without our trigger, runs like a new one.
-- Returns the rows that show it; and, with NULL, all rows that could take it: a trigger may have
-- kept some as they were.
-- $1 ids, $2 versions of the rows that were read, $3 pids of the sessions, $4 when they start, $5
-- whether effects happen exactly once, $6 whether the marks must be on disk before the tasks start
WITH begun AS MATERIALIZED (
    SELECT e.*, t.part, t.place
    FROM (
        SELECT *
        FROM ROWS FROM (
            unnest($1::int8[]),
            unnest($2::int4[]),
            unnest($3::int4[]),
            unnest($5::bool[])
        ) AS u (id, version, pid, atomic)
        ORDER BY u.id
    ) AS e
    CROSS JOIN LATERAL ( -- one lookup for each, whatever the statistics say
        SELECT t.tableoid AS part, t.ctid AS place
        FROM :table AS t
        WHERE t.id BETWEEN e.id AND e.id
            AND :as_read
        ORDER BY t.id
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS t
),
marked AS (
    UPDATE :table AS t
    SET
        state = 'WORK',
        pid = b.pid,
        start = $4::timestamptz,
        stop = NULL,
        atomic = b.atomic,
        xact = NULL,
        xact_at = NULL,
        attempt = CASE WHEN t.stop IS NOT NULL THEN 1 ELSE :attempt END,
        interrupted = CASE WHEN t.stop IS NOT NULL THEN 0 ELSE t.interrupted END,
        runs = CASE WHEN t.stop IS NULL THEN t.runs ELSE
            :earlier_runs
            || jsonb_build_object('start', t.start, 'stop', t.stop, 'pid', t.pid,
                'state', CASE WHEN t.error IS NULL THEN 'DONE' ELSE 'FAIL' END, 'error', left(t.error, 1000), 'cause', 'run again')
        END
    FROM begun AS b
    WHERE t.ctid = b.place
        AND t.tableoid = b.part
        AND (SELECT NOT $6::bool OR :on_disk)
    RETURNING t.id, t.state = 'WORK' AS moved -- false: a trigger has kept the row as it was
)
SELECT m.id, m.moved
FROM marked AS m
UNION ALL
SELECT b.id, NULL
FROM begun AS b
JOIN :table AS t ON t.ctid = b.place AND t.tableoid = b.part
