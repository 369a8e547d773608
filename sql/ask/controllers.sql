-- The controllers that have written lately, which each does every minute: the leader, then the
-- others, those last that have drained.
SELECT
    l.controller,
    l.leads,
    l.since::pg_catalog.text,
    pg_catalog.date_part('epoch', pg_catalog.statement_timestamp() OPERATOR(pg_catalog.-) l.since),
    coalesce(l.host, ''),
    coalesce(l.pid, 0),
    coalesce(l.version, '')
FROM :leaders AS l
WHERE l.seen OPERATOR(pg_catalog.>) (pg_catalog.statement_timestamp() OPERATOR(pg_catalog.-) '90 seconds'::pg_catalog.interval)
ORDER BY l.leads DESC, l.seen DESC, l.controller
