-- A trigger's condition is parsed again by every statement, but not where its columns are not set:
-- so they are short, and what a task's own updates do not concern has a list of columns.

DROP TRIGGER IF EXISTS pgtaskd_accept ON :table;
CREATE TRIGGER pgtaskd_accept BEFORE INSERT OR UPDATE OF plan, base, active, live, repeat, timeout, backoff, count, max, retry, "group", remote, "null", key,
    cron, after, on_fail, notify, settings, overlap, catchup, max_failures ON :table
    FOR EACH ROW EXECUTE FUNCTION :schema.pgtaskd_accept_:hash();

-- Telling the leader of tasks that may start at another time, run otherwise or must stop, and of
-- those that are gone. A column that a trigger names cannot be given another type: so data and
-- input are not among them.

DROP TRIGGER IF EXISTS pgtaskd_update ON :table;
CREATE TRIGGER pgtaskd_update AFTER UPDATE OF plan, "group", remote, max, priority, timeout, active, live, count, save, repeat, cron, overlap, settings, rerun, key, after,
    header, string, delimiter, escape, quote, "null" ON :table
    FOR EACH ROW WHEN (NEW.state OPERATOR(pg_catalog.=) 'PLAN')
    EXECUTE FUNCTION :schema.pgtaskd_wake_:hash();

DROP TRIGGER IF EXISTS pgtaskd_delete ON :table;
CREATE TRIGGER pgtaskd_delete AFTER DELETE ON :table
    FOR EACH ROW WHEN (OLD.state OPERATOR(pg_catalog.=) ANY ('{PLAN,TAKE,WORK}'))
    EXECUTE FUNCTION :schema.pgtaskd_wake_:hash();

-- STOP on an ended task stops its repetition instead; PLAN lets it run again. Both wake the leader.
-- TAKE and WORK are for control sessions.

DROP TRIGGER IF EXISTS pgtaskd_state ON :table;
CREATE TRIGGER pgtaskd_state BEFORE UPDATE OF state ON :table
    FOR EACH ROW WHEN (NEW.state OPERATOR(pg_catalog.=) ANY ('{STOP,PLAN,TAKE}')
        OR NEW.state OPERATOR(pg_catalog.=) 'WORK' AND OLD.state OPERATOR(pg_catalog.<>) 'WORK'
        AND pg_catalog.left(pg_catalog.current_setting('application_name'), 8) OPERATOR(pg_catalog.<>) 'pgtaskd ')
    EXECUTE FUNCTION :schema.pgtaskd_state_:hash();

DROP TRIGGER IF EXISTS pgtaskd_stop_next ON :table;
CREATE TRIGGER pgtaskd_stop_next AFTER UPDATE OF state ON :table
    FOR EACH ROW WHEN (OLD.next IS NOT NULL)
    EXECUTE FUNCTION :schema.pgtaskd_stop_next_:hash();

-- A task that runs does not change its own row: it would run again and again. The function tells
-- its changes from the end that we write.

DROP TRIGGER IF EXISTS pgtaskd_own ON :table;
CREATE TRIGGER pgtaskd_own AFTER UPDATE ON :table
    FOR EACH ROW WHEN (OLD.pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid()) -- no more: each statement reads the condition again
    EXECUTE FUNCTION :schema.pgtaskd_own_:hash();
