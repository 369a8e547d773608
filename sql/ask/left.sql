-- What is left to do: how many tasks are due at a moment, how many run, and how many are being cancelled.
-- $1 the moment; NULL: now. $2 most tasks that are looked at
SELECT
    pg_catalog.count(CASE WHEN d.state OPERATOR(pg_catalog.=) 'PLAN' THEN 1 END),
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
