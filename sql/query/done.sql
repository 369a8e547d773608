-- Writes the end of a task in the transaction of its own SQL, and is known to the trigger
-- pgtaskd_own by its first words; raises an error when the task is no longer ours, or its own SQL
-- has changed the row.
-- $1 id, $2 version of the row that was read, $3 start, $4 stop, $5 output, $6 notice, $7 whether
-- effects and end commit together,
-- $8 whether it must not repeat itself, $9 pid of the session: what the server need not ask itself,
-- $10 whether unchanged.sql has looked at the row, $11 enable_seqscan, which is off for us and not
-- for what comes behind
WITH pgtaskd_end AS (
    UPDATE :table AS t
    SET
        state = 'DONE',
        start = $3::timestamptz,
        stop = $4::timestamptz,
        pid = $9::int4,
        output = $5::text,
        error = NULL,
        sqlstate = NULL,
        notice = $6::text,
        atomic = $7::bool,
        attempt = :attempt
    WHERE t.id = $1::int8
        AND (
            t.state = 'PLAN' AND t.xmin = $2::int4
            OR t.state = 'WORK' AND t.pid = $9::int4
            AND ( -- the task's own SQL has not changed the row: what is older than its transaction is not its doing, nor what a mark of ours has committed since
                $10::bool
                OR :older
                OR txid_status(:full_xmin) <> 'in progress'
            )
        )
        AND (
            NOT $8::bool
            OR NOT :followed
        )
    RETURNING t.state, t.start
)
SELECT
    1::int2 / EXISTS (
        SELECT
        FROM pgtaskd_end AS e
        WHERE e.state <> ALL ('{TAKE,WORK}') -- no trigger has kept the row as it was
            AND (e.state <> 'PLAN' OR e.start IS NOT NULL)
    )::int4, -- exec tells this error by its types
    set_config('enable_seqscan', $11::bool::text, true)
