-- The remaining work: how many tasks are due at a moment, or wait for a task that has ended (the
-- leader is about to notice); how many run or are being cancelled.
-- $1 the moment; NULL: now. $2 most tasks to look at
SELECT
    count(CASE WHEN d.state = 'PLAN' THEN 1 END) + (
        SELECT count(*)
        FROM (
            SELECT w.awaits
            FROM :table AS w
            WHERE w.awaits IS NOT NULL
                AND w.state = 'PLAN'
                AND w.plan <= coalesce($1::timestamptz, statement_timestamp())
            ORDER BY w.awaits
            LIMIT $2::int8
        ) AS w
        WHERE NOT EXISTS (
            SELECT
            FROM :table AS t
            WHERE t.id = w.awaits
                AND (t.due IS NOT NULL OR t.state = 'STOP' AND (t.stop IS NULL OR t.stopping))
        )
    ),
    count(CASE WHEN d.state <> 'PLAN' THEN 1 END) + (
        SELECT count(*)
        FROM :table AS t
        WHERE :stopping
    )
FROM (
    SELECT t.state
    FROM :table AS t
    WHERE t.due IS NOT NULL
        AND t.due <= coalesce($1::timestamptz, statement_timestamp())
    ORDER BY t.due, t.id
    LIMIT $2::int8
) AS d
