-- When the jobs that have an owner and wait for their next run were last DONE: of each job that
-- run, or the one before it, and so on, as far as the rows are still there.
-- $1 most keys that are looked at, $2 most jobs
SELECT t.wait_key, done.stop
FROM (
    SELECT *
    FROM :table AS w
    WHERE w.wait_key IS NOT NULL
    ORDER BY w.wait_key
    LIMIT $1
) AS t
CROSS JOIN LATERAL (
    WITH RECURSIVE up AS (
        SELECT t.parent, 'PLAN' AS state, NULL::pg_catalog.timestamptz AS stop, 0 AS n
        UNION ALL
        SELECT p.parent, p.state, p.stop, u.n OPERATOR(pg_catalog.+) 1
        FROM up AS u
        CROSS JOIN LATERAL (
            SELECT p.parent, p.state::pg_catalog.text, p.stop
            FROM :table AS p
            WHERE p.id OPERATOR(pg_catalog.>=) u.parent
                AND p.id OPERATOR(pg_catalog.<=) u.parent
                AND p.key OPERATOR(pg_catalog.=) t.key
            ORDER BY p.id
        ) AS p
        WHERE u.state OPERATOR(pg_catalog.<>) 'DONE'
            AND u.n OPERATOR(pg_catalog.<) 20
    )
    SELECT u.stop
    FROM up AS u
    WHERE u.state OPERATOR(pg_catalog.=) 'DONE'
        AND u.stop OPERATOR(pg_catalog.<) 'infinity'
) AS done
WHERE :owner_of_t IS NOT NULL
LIMIT $2
