-- The controllers that have written lately, which each does every minute: the leader, then the
-- others, those last that have drained.
SELECT
    l.controller,
    l.leads,
    l.since::text,
    date_part('epoch', statement_timestamp() - l.since),
    coalesce(l.host, ''),
    coalesce(l.pid, 0),
    coalesce(l.version, '')
FROM :leaders AS l
WHERE l.seen > (statement_timestamp() - '90 seconds'::interval)
ORDER BY l.leads DESC, l.seen DESC, l.controller
