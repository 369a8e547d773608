-- When the jobs that have an owner and wait for their next run were last DONE: the last run, or the
-- one before it, and so on, as far as the rows still exist.
-- $1 most keys to look at, $2 most jobs
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
        SELECT t.parent, 'PLAN' AS state, NULL::timestamptz AS stop, 0 AS n
        UNION ALL
        SELECT p.parent, p.state, p.stop, u.n + 1
        FROM up AS u
        CROSS JOIN LATERAL (
            SELECT p.parent, p.state::text, p.stop
            FROM :table AS p
            WHERE p.id BETWEEN u.parent AND u.parent
                AND p.key = t.key
            ORDER BY p.id
        ) AS p
        WHERE u.state <> 'DONE'
            AND u.n < 20
    )
    SELECT u.stop
    FROM up AS u
    WHERE u.state = 'DONE'
        AND u.stop < 'infinity'
) AS done
WHERE :owner_of_t IS NOT NULL
LIMIT $2
