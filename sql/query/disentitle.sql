-- Takes out the tokens of sessions that have ended.
DELETE FROM :tokens AS t
WHERE NOT EXISTS (
    SELECT
    FROM pg_catalog.pg_stat_get_activity(t.pid) AS a
    WHERE a.pid OPERATOR(pg_catalog.=) t.pid
)
