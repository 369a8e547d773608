-- What is cheap to check at each update. Constraints are parsed anew by every statement, which a task's few updates feel: those of
-- plan and the intervals took ten times as long as the update itself, and are in pgtask_check therefore.

ALTER TABLE :table DROP CONSTRAINT IF EXISTS pgtask_count_check, ADD CONSTRAINT pgtask_count_check
    CHECK (count >= 0);

-- The smallest int4 has no opposite, and a pause is -max milliseconds.
ALTER TABLE :table DROP CONSTRAINT IF EXISTS pgtask_max_check, ADD CONSTRAINT pgtask_max_check
    CHECK (max > -2147483648);

ALTER TABLE :table DROP CONSTRAINT IF EXISTS pgtask_retry_check, ADD CONSTRAINT pgtask_retry_check
    CHECK (retry >= 0);

ALTER TABLE :table DROP CONSTRAINT IF EXISTS pgtask_cron_check, ADD CONSTRAINT pgtask_cron_check
    CHECK (cron IS NULL OR repeat = '0');
