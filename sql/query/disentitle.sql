-- Takes out the tokens of sessions that have ended, but for one that a transaction has locked, which
-- may use it up: the session may go on for long without us.
-- $1 process ids of those that end just now, and may still be there
DELETE FROM :tokens AS t
WHERE t.pid = ANY (ARRAY(
    SELECT o.pid
    FROM :tokens AS o
    WHERE o.pid = ANY ($1::int4[])
        OR NOT EXISTS (
            SELECT
            FROM pg_stat_get_activity(o.pid) AS a
            WHERE a.pid = o.pid
        )
    FOR UPDATE SKIP LOCKED
))
