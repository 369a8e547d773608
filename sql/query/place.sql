-- This server and database, as in xact_at.
SELECT concat((SELECT s.system_identifier FROM pg_control_system() AS s), '/', d.oid)
FROM pg_database AS d
WHERE d.datname = current_database()
