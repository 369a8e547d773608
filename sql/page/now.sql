-- The server's time, and how many of the first repeating tasks are paused.
-- $1 most tasks to look at
SELECT
    statement_timestamp(),
    (
        SELECT count(*) FILTER (WHERE j.state = 'STOP')
        FROM (
            SELECT t.state, t.id
            FROM :table AS t
            WHERE t.stop IS NULL AND (t.repeat > '00:00:00'::interval OR t.cron IS NOT NULL)
            ORDER BY t.id
            LIMIT $1::int8
        ) AS j
    )
