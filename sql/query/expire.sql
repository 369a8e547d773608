-- Gives up tasks that have never started and are no longer worth it.
-- $1 ids
UPDATE :table AS t
SET
    state = 'GONE',
    start = statement_timestamp(),
    stop = statement_timestamp(),
    error = 'ERROR:  task not active'
WHERE t.id IN (
        SELECT x.id
        FROM :table AS x
        WHERE x.id = ANY ($1)
            AND x.state = 'PLAN' AND x.attempt = 0 AND x.active > '0' AND x.max >= 0 AND NOT x.catchup
            AND x.plan <= statement_timestamp()
            AND coalesce(x.base, x.plan) + least(x.active, '10000 years') < statement_timestamp()
        ORDER BY x.id
        FOR UPDATE SKIP LOCKED
    )
RETURNING t.id, t.repeat > '0'
