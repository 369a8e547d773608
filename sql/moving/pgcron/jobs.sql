-- The jobs that the session's role may see. Jobs have names since pg_cron 1.3.
SELECT
    j.jobid,
    coalesce(to_jsonb(j) ->> 'jobname', ''),
    j.schedule,
    j.command,
    j.nodename,
    j.nodeport,
    j.database,
    j.username,
    coalesce((to_jsonb(j) ->> 'active')::bool, true)
FROM cron.job AS j
ORDER BY j.jobid;
