-- Takes out the tokens of sessions that have ended, but for one that a transaction has locked, which
-- may use it up: the session may go on for long without us.
-- $1 process ids of those that end just now, and may still be there
DELETE FROM :tokens AS t
WHERE t.pid OPERATOR(pg_catalog.=) ANY (ARRAY(
    SELECT o.pid
    FROM :tokens AS o
    WHERE o.pid OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.int4[])
        OR NOT EXISTS (
            SELECT
            FROM pg_catalog.pg_stat_get_activity(o.pid) AS a
            WHERE a.pid OPERATOR(pg_catalog.=) o.pid
        )
    FOR UPDATE SKIP LOCKED
))
