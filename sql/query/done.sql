-- Writes the end of a task in the transaction of its own SQL; raises an error when the task is no longer ours, or the
-- transaction not, or its own SQL has changed the row.
-- :values are literals
WITH ended AS (
    UPDATE :table AS t
    SET
        state = 'DONE',
        start = :start,
        stop = :stop,
        pid = pg_catalog.pg_backend_pid(),
        output = :output,
        error = NULL,
        sqlstate = NULL,
        notice = :notice,
        atomic = :atomic
    WHERE t.id = :id
        AND (t.state = 'TAKE' AND t.pid = :owner OR t.state = 'WORK' AND t.pid = pg_catalog.pg_backend_pid())
        AND (NOT :single OR t.repeat = '0' AND t.cron IS NULL)
        AND pg_catalog.transaction_timestamp() = :start
        AND t.xmin::text::int8 <> pg_catalog.txid_current() % 4294967296 -- the task's own SQL has not changed the row
    RETURNING 1
)
SELECT 1 / count(*)
FROM ended
