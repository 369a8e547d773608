-- What is left to do: how many tasks are due at a moment, or wait for one that has ended, as the
-- leader is about to see; how many run, and how many are being cancelled.
-- $1 the moment; NULL: now. $2 most tasks that are looked at
SELECT
    pg_catalog.count(CASE WHEN d.state OPERATOR(pg_catalog.=) 'PLAN' THEN 1 END) OPERATOR(pg_catalog.+) (
        SELECT pg_catalog.count(*)
        FROM (
            SELECT w.awaits
            FROM :table AS w
            WHERE w.awaits IS NOT NULL
                AND w.state OPERATOR(pg_catalog.=) 'PLAN'
                AND w.plan OPERATOR(pg_catalog.<=) coalesce($1::pg_catalog.timestamptz, pg_catalog.statement_timestamp())
            ORDER BY w.awaits
            LIMIT $2::pg_catalog.int8
        ) AS w
        WHERE NOT EXISTS (
            SELECT
            FROM :table AS t
            WHERE t.id OPERATOR(pg_catalog.=) w.awaits
                AND (t.due IS NOT NULL OR t.state OPERATOR(pg_catalog.=) 'STOP' AND (t.stop IS NULL OR t.stopping))
        )
    ),
    pg_catalog.count(CASE WHEN d.state OPERATOR(pg_catalog.<>) 'PLAN' THEN 1 END) OPERATOR(pg_catalog.+) (
        SELECT pg_catalog.count(*)
        FROM :table AS t
        WHERE t.due IS NULL
            AND t.stopping
            AND t.state OPERATOR(pg_catalog.=) 'STOP'
            AND t.stop IS NULL
    )
FROM (
    SELECT t.state
    FROM :table AS t
    WHERE t.due IS NOT NULL
        AND t.due OPERATOR(pg_catalog.<=) coalesce($1::pg_catalog.timestamptz, pg_catalog.statement_timestamp())
    ORDER BY t.due, t.id
    LIMIT $2::pg_catalog.int8
) AS d
