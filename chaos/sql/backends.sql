SELECT pid
FROM pg_stat_activity
WHERE datname = current_database() AND application_name LIKE 'pg\_task %'
