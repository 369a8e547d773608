-- Takes out the tokens of sessions that have ended.
-- $1 process ids of those that end just now, and may still be there
DELETE FROM :tokens AS t
WHERE t.pid OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.int4[])
    OR NOT EXISTS (
        SELECT
        FROM pg_catalog.pg_stat_get_activity(t.pid) AS a
        WHERE a.pid OPERATOR(pg_catalog.=) t.pid
    )
