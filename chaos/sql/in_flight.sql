-- Id 0 says that there was a failover, even if no row was prepared.
INSERT INTO in_flight
SELECT 0
UNION ALL
SELECT id
FROM task
WHERE xact IS NOT NULL
