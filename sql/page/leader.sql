-- The controller that leads. A leader that crashed has left its row; the newest is that of today.
SELECT l.host, l.pid, l.version, l.since
FROM :its_leader AS l
WHERE l.leads AND l.seen > (statement_timestamp() - '90 seconds'::interval)
ORDER BY l.since DESC
LIMIT 1
