-- A trigger's condition is parsed anew by every statement, but not where its columns are not set: so they are short, and what a
-- task's own updates do not concern has a list of columns.

-- In schema version 4 two triggers did this: pgtask_check, and for each statement pgtask_inserted. In version 1 that was pgtask_insert, and told the leader of all.
DROP TRIGGER IF EXISTS pgtask_accept ON :table;
DROP TRIGGER IF EXISTS pgtask_check ON :table;
DROP TRIGGER IF EXISTS pgtask_inserted ON :table;
DROP TRIGGER IF EXISTS pgtask_insert ON :table;
CREATE TRIGGER pgtask_accept BEFORE INSERT OR UPDATE OF plan, active, live, repeat, timeout, backoff, count, max, retry, cron ON :table
    FOR EACH ROW EXECUTE FUNCTION :schema.pgtask_accept();

-- Waking the leader for tasks that may start at another time or must stop, and for running ones that are gone.

DROP TRIGGER IF EXISTS pgtask_update ON :table;
CREATE TRIGGER pgtask_update AFTER UPDATE OF plan, "group", remote, max, priority ON :table
    FOR EACH ROW WHEN (NEW.state = 'PLAN')
    EXECUTE FUNCTION :schema.pgtask_wake();

DROP TRIGGER IF EXISTS pgtask_delete ON :table;
CREATE TRIGGER pgtask_delete AFTER DELETE ON :table
    FOR EACH ROW WHEN (OLD.state IN ('TAKE', 'WORK'))
    EXECUTE FUNCTION :schema.pgtask_wake();

-- STOP on an ended task stops its repetition instead; PLAN lets it run again. Both wake the leader. In schema version 5 pgtask_stop did this, and pgtask_update_state for waking.

DROP TRIGGER IF EXISTS pgtask_state ON :table;
DROP TRIGGER IF EXISTS pgtask_stop ON :table;
DROP TRIGGER IF EXISTS pgtask_update_state ON :table;
CREATE TRIGGER pgtask_state BEFORE UPDATE OF state ON :table
    FOR EACH ROW WHEN (NEW.state IN ('STOP', 'PLAN'))
    EXECUTE FUNCTION :schema.pgtask_state();

DROP TRIGGER IF EXISTS pgtask_stop_next ON :table;
CREATE TRIGGER pgtask_stop_next AFTER UPDATE OF state ON :table
    FOR EACH ROW WHEN (OLD.next IS NOT NULL)
    EXECUTE FUNCTION :schema.pgtask_stop_next();
