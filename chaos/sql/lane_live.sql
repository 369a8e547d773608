-- An older query that is still active was active when this statement began. So all these ran at
-- once.
SELECT format('%s runs %s at once: pids %s', application_name, count(*), string_agg(pid::text, ' '))
FROM pg_stat_activity
WHERE datname = current_database()
    AND application_name ~ '^pg_task public task (lane|chain) [0-9]+$'
    AND state = 'active'
    AND query_start < statement_timestamp()
    AND query ~ 'pg_sleep'
GROUP BY application_name
HAVING count(*) > CASE
        WHEN application_name ~ 'chain' THEN 1
        WHEN substring(application_name FROM '[0-9]+$')::int4 < 15 THEN substring(application_name FROM '[0-9]+$')::int4 % 3 + 1
        ELSE 3
    END
