-- Sessions that block others, and what they do. Those of other roles may be hidden from ours.
-- $1 their pids, $2 whether statements are hidden
SELECT
    p.pid,
    pg_get_userbyid(a.usesysid)::text AS role,
    a.application_name AS application,
    a.state,
    date_part('epoch', statement_timestamp() - a.xact_start) AS seconds,
    CASE WHEN NOT $2::bool THEN nullif(left(a.query, 10000), '<insufficient privilege>') END AS query
FROM unnest($1::int4[]) AS p (pid)
CROSS JOIN LATERAL pg_stat_get_activity(p.pid) AS a
WHERE p.pid > 0
