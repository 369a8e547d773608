SELECT
    calls,
    rows,
    total_plan_time * interval '1 ms',
    total_exec_time * interval '1 ms',
    (total_plan_time + total_exec_time) * 1000 / greatest(calls, 1),
    (wal_bytes / greatest(calls, 1))::float8,
    left(regexp_replace(regexp_replace(query, '--[^\n]*', '', 'g'), '\s+', ' ', 'g'), 100)
FROM pg_stat_statements
ORDER BY total_plan_time + total_exec_time DESC
LIMIT 15
