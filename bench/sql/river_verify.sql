-- How many jobs were completed, and with their output, how many left an effect, and how long after
-- the first start that was seen.
-- $1 when the end of all was seen
SELECT
    count(*) FILTER (WHERE state = 'completed' AND attempt = 1 AND errors IS NULL),
    count(*) FILTER (WHERE metadata -> 'output' = '1'),
    (SELECT count(*) FROM effect),
    coalesce($1 - min(attempted_at), '0')
FROM river_job
