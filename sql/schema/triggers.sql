-- Every statement parses a trigger's condition again, unless it sets none of the trigger's columns.
-- So conditions are short, and triggers that a task's own updates could fire have a list of
-- columns.

DROP TRIGGER IF EXISTS pgtaskd_accept ON :table;
CREATE TRIGGER pgtaskd_accept BEFORE INSERT OR UPDATE OF plan, base, active, live, repeat, timeout, backoff, count, max, retry, "group", remote, "null", key,
    cron, until, after, notify, settings, overlap, catchup, max_failures, format ON :table
    FOR EACH ROW EXECUTE FUNCTION :schema.pgtaskd_accept();
COMMENT ON TRIGGER pgtaskd_accept ON :table IS 'Checks tasks (:made)';

-- Tells the leader of tasks that may start at another time, run differently, must stop, or are
-- gone. A column that a trigger names cannot change its type, so data and input are not listed.

DROP TRIGGER IF EXISTS pgtaskd_update ON :table;
CREATE TRIGGER pgtaskd_update AFTER DELETE OR UPDATE OF plan, "group", remote, max, priority, timeout, active, live, count, save, repeat, cron, overlap, rerun, key, after ON :table
    FOR EACH ROW WHEN (OLD.state IN ('PLAN', 'TAKE', 'WORK')) EXECUTE FUNCTION :schema.pgtaskd_wake();
COMMENT ON TRIGGER pgtaskd_update ON :table IS 'Wakes the leader (:made)';

DROP TRIGGER IF EXISTS pgtaskd_state ON :table;
CREATE TRIGGER pgtaskd_state BEFORE UPDATE OF state ON :table
    FOR EACH ROW WHEN (NEW.state IN ('STOP', 'PLAN') OR NEW.state <> OLD.state
        AND NOT (left(current_setting('application_name'), 8) = 'pgtaskd ' AND has_table_privilege(:table_text::regclass, 'UPDATE')))
    EXECUTE FUNCTION :schema.pgtaskd_state();
COMMENT ON TRIGGER pgtaskd_state ON :table IS 'Handles changes of state (:made)';

DROP TRIGGER IF EXISTS pgtaskd_stop_next ON :table;
CREATE TRIGGER pgtaskd_stop_next AFTER UPDATE OF state ON :table
    FOR EACH ROW WHEN (OLD.next IS NOT NULL) EXECUTE FUNCTION :schema.pgtaskd_stop_next();
COMMENT ON TRIGGER pgtaskd_stop_next ON :table IS 'Stops the repetition of a task (:made)';
