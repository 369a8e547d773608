-- A trigger's condition is parsed anew by every statement, but not where its columns are not set: so they are short, and what a
-- task's own updates do not concern has a list of columns.

DROP TRIGGER IF EXISTS pgtaskd_accept ON :table;
CREATE TRIGGER pgtaskd_accept BEFORE INSERT OR UPDATE OF plan, active, live, repeat, timeout, backoff, count, max, retry, "group", remote, "null", key,
    cron, after, on_fail, notify, settings, overlap, catchup ON :table
    FOR EACH ROW EXECUTE FUNCTION :schema.pgtaskd_accept();

-- Waking the leader for tasks that may start at another time or must stop, and for running ones that are gone.

DROP TRIGGER IF EXISTS pgtaskd_update ON :table;
CREATE TRIGGER pgtaskd_update AFTER UPDATE OF plan, "group", remote, max, priority ON :table
    FOR EACH ROW WHEN (NEW.state = 'PLAN')
    EXECUTE FUNCTION :schema.pgtaskd_wake();

DROP TRIGGER IF EXISTS pgtaskd_delete ON :table;
CREATE TRIGGER pgtaskd_delete AFTER DELETE ON :table
    FOR EACH ROW WHEN (OLD.state IN ('TAKE', 'WORK'))
    EXECUTE FUNCTION :schema.pgtaskd_wake();

-- STOP on an ended task stops its repetition instead; PLAN lets it run again. Both wake the leader.

DROP TRIGGER IF EXISTS pgtaskd_state ON :table;
CREATE TRIGGER pgtaskd_state BEFORE UPDATE OF state ON :table
    FOR EACH ROW WHEN (NEW.state IN ('STOP', 'PLAN'))
    EXECUTE FUNCTION :schema.pgtaskd_state();

DROP TRIGGER IF EXISTS pgtaskd_stop_next ON :table;
CREATE TRIGGER pgtaskd_stop_next AFTER UPDATE OF state ON :table
    FOR EACH ROW WHEN (OLD.next IS NOT NULL)
    EXECUTE FUNCTION :schema.pgtaskd_stop_next();
