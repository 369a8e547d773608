-- $1 pattern of application_name, $2 one in this many, $3 which
SELECT pg_cancel_backend(pid)
FROM pg_stat_activity
WHERE datname = current_database()
    AND application_name LIKE $1
    AND (pid + $3::int4) % $2::int4 = 0
