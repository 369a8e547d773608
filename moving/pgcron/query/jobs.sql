-- The jobs that the session's role may see. A job has had a name since pg_cron 1.3.
SELECT
    j.jobid,
    coalesce(pg_catalog.to_jsonb(j) OPERATOR(pg_catalog.->>) 'jobname', ''),
    j.schedule,
    j.command,
    j.nodename,
    j.nodeport,
    j.database,
    j.username,
    coalesce((pg_catalog.to_jsonb(j) OPERATOR(pg_catalog.->>) 'active')::pg_catalog.bool, true)
FROM cron.job AS j
ORDER BY j.jobid;
