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
        start = $3::pg_catalog.timestamptz,
        stop = $4::pg_catalog.timestamptz,
        pid = $9::pg_catalog.int4,
        output = $5::pg_catalog.text,
        error = NULL,
        sqlstate = NULL,
        notice = $6::pg_catalog.text,
        atomic = $7::pg_catalog.bool,
        attempt = :attempt
    WHERE t.id OPERATOR(pg_catalog.=) $1::pg_catalog.int8
        AND (
            t.state OPERATOR(pg_catalog.=) 'PLAN' AND t.xmin OPERATOR(pg_catalog.=) $2::pg_catalog.int4
            OR t.state OPERATOR(pg_catalog.=) 'WORK' AND t.pid OPERATOR(pg_catalog.=) $9::pg_catalog.int4
            AND ( -- the task's own SQL has not changed the row: what is older than its transaction is not its doing, nor what a mark of ours has committed since
                $10::pg_catalog.bool
                OR :older
                OR pg_catalog.txid_status(:full_xmin) OPERATOR(pg_catalog.<>) 'in progress'
            )
        )
        AND (
            NOT $8::pg_catalog.bool
            OR NOT :followed
        )
    RETURNING t.state, t.start
)
SELECT
    1::pg_catalog.int2 OPERATOR(pg_catalog./) EXISTS (
        SELECT
        FROM pgtaskd_end AS e
        WHERE e.state OPERATOR(pg_catalog.<>) ALL ('{TAKE,WORK}') -- no trigger has kept the row as it was
            AND (e.state OPERATOR(pg_catalog.<>) 'PLAN' OR e.start IS NOT NULL)
    )::pg_catalog.int4, -- exec tells this error by its types
    pg_catalog.set_config('enable_seqscan', $11::pg_catalog.bool::pg_catalog.text, true)
