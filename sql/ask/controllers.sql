-- Controllers that have written their row in the last 90 s (each writes it every minute): the
-- leader, then the others, those seen last first.
SELECT
    l.controller,
    l.leads,
    l.since::text,
    date_part('epoch', statement_timestamp() - l.since),
    coalesce(l.host, ''),
    coalesce(l.pid, 0),
    coalesce(l.version, '')
FROM :its_leader AS l
WHERE l.seen > (statement_timestamp() - '90 seconds'::interval)
ORDER BY l.leads DESC, l.seen DESC, l.controller
