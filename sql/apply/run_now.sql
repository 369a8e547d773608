-- Inserts a copy of a job's row that runs once, now. Copies the row that waits, else the newest
-- that runs, else the last. Also returns that row's id and role. Does not copy a row of another
-- role.
-- $1 key, $2 the session's role, or an empty text
WITH job AS (
    SELECT t.*
    FROM :table AS t
    WHERE t.id = coalesce(
        (
            SELECT w.id
            FROM :table AS w
            WHERE w.wait_key = $1
            ORDER BY w.id DESC
            LIMIT 1
        ),
        (
            SELECT w.id
            FROM :table AS w
            WHERE w.due IS NOT NULL
                AND w.state = ANY ('{TAKE,WORK}')
                AND w.key = $1
            ORDER BY w.id DESC
            LIMIT 1
        ),
        (
            SELECT w.id
            FROM :table AS w
            WHERE w.key = $1
            ORDER BY w.id DESC
            LIMIT 1
        )
    )
),
copy AS (
    INSERT INTO :table (plan, state, repeat, cron, key, :copied)
    SELECT statement_timestamp(), 'PLAN', '0'::interval, NULL, NULL, :copied
    FROM job AS t
    WHERE $2::text = '' OR :role = $2::text
    RETURNING id
)
SELECT t.id, :role, (SELECT c.id FROM copy AS c)
FROM job AS t
