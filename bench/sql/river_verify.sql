-- How many jobs were completed, how many of them with their output, how many left an effect, and
-- the time from the first start until all ends were seen.
-- $1 when all ends were seen
SELECT
    count(*) FILTER (WHERE state = 'completed' AND attempt = 1 AND errors IS NULL),
    count(*) FILTER (WHERE metadata -> 'output' = '1'),
    (SELECT count(*) FROM effect),
    coalesce($1 - min(attempted_at), '0')
FROM river_job
