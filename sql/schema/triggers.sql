-- A trigger's condition is parsed anew by every statement, but not where its columns are not set: so they are short, and what a
-- task's own updates do not concern has a list of columns.

DROP TRIGGER IF EXISTS pgtask_check ON :table;
CREATE TRIGGER pgtask_check BEFORE INSERT OR UPDATE OF plan, active, live, repeat, timeout, backoff, count, max, retry, cron ON :table
    FOR EACH ROW EXECUTE FUNCTION :schema.pgtask_check();

-- Waking the leader: for new tasks, for those that may start at another time or must stop, for running ones that are gone.

-- A leader that sleeps holds this lock alone. One that is awake does not hold it, and need not be told: we share the lock until we have committed,
-- so that it cannot fall asleep before it has seen what we insert. Where nobody leads, the next leader looks. In schema version 1 this was
-- pgtask_insert, and told the leader of each statement.
DROP TRIGGER IF EXISTS pgtask_inserted ON :table;
DROP TRIGGER IF EXISTS pgtask_insert ON :table;
CREATE TRIGGER pgtask_inserted :before INSERT ON :table
    FOR EACH :each WHEN (NOT pg_catalog.pg_try_advisory_xact_lock_shared(:wake
        + :relation::pg_catalog.regclass::pg_catalog.oid::pg_catalog.int8))
    EXECUTE FUNCTION :schema.pgtask_inserted();

DROP TRIGGER IF EXISTS pgtask_update ON :table;
CREATE TRIGGER pgtask_update AFTER UPDATE OF plan, "group", remote, max, priority ON :table
    FOR EACH ROW WHEN (NEW.state = 'PLAN')
    EXECUTE FUNCTION :schema.pgtask_wake();

DROP TRIGGER IF EXISTS pgtask_update_state ON :table;
CREATE TRIGGER pgtask_update_state AFTER UPDATE OF state ON :table
    FOR EACH ROW WHEN (NEW.state IN ('PLAN', 'STOP'))
    EXECUTE FUNCTION :schema.pgtask_wake();

DROP TRIGGER IF EXISTS pgtask_delete ON :table;
CREATE TRIGGER pgtask_delete AFTER DELETE ON :table
    FOR EACH ROW WHEN (OLD.state IN ('TAKE', 'WORK'))
    EXECUTE FUNCTION :schema.pgtask_wake();

-- STOP on an ended task stops its repetition instead; PLAN lets it run again.

DROP TRIGGER IF EXISTS pgtask_stop ON :table;
CREATE TRIGGER pgtask_stop BEFORE UPDATE OF state ON :table
    FOR EACH ROW WHEN (NEW.state IN ('STOP', 'PLAN'))
    EXECUTE FUNCTION :schema.pgtask_stop();

DROP TRIGGER IF EXISTS pgtask_stop_next ON :table;
CREATE TRIGGER pgtask_stop_next AFTER UPDATE OF state ON :table
    FOR EACH ROW WHEN (OLD.next IS NOT NULL)
    EXECUTE FUNCTION :schema.pgtask_stop_next();
