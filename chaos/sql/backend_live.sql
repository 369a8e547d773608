-- Sessions that hang, or more sessions than run allows, at a time when the controllers run only the
-- chains.
SELECT format('%s: pid %s, %s since %s, %s', application_name, pid, state, state_change, left(query, 100))
FROM pg_stat_activity
WHERE datname = current_database() AND application_name LIKE 'pg\_task %' AND state <> 'idle' AND state_change < now() - interval '5 s'
UNION ALL
SELECT format('%s sessions: %s', count(*), string_agg(format('%s of %s', pid, backend_start), ', ' ORDER BY backend_start))
FROM pg_stat_activity
WHERE datname = current_database() AND application_name LIKE 'pg\_task %'
HAVING count(*) > 32
