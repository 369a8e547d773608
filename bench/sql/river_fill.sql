-- Inserts jobs as River's client does.
-- $1 jobs
INSERT INTO river_job (kind, args, max_attempts)
SELECT
    'bench',
    '{}',
    25
FROM generate_series(1, $1::int4)
