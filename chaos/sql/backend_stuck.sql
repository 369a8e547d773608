SELECT format('%s: pid %s, %s, since %s, %s', application_name, pid, state, state_change, left(query, 100))
FROM pg_stat_activity
WHERE datname = current_database() AND (application_name LIKE 'pg\_task %' OR application_name LIKE 'pgtaskd %')
