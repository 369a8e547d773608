-- Steps only for tables whose tasks run under the roles that insert them.

-- Tasks that exist already have run under the serving role until now.
ALTER TABLE :table ADD COLUMN IF NOT EXISTS role text DEFAULT :serving;
ALTER TABLE :table ALTER COLUMN role SET DEFAULT current_user;

-- Roles that can write the table as its owner can write any name into role; so can the serving
-- role, whose repetitions keep the role of their chain. Null stays null: nobody knows whose SQL the
-- task has. All others get their own role, whatever their INSERT says, and cannot change tasks of a
-- role that they are not a member of.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_role() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    root oid := coalesce(pg_partition_root(TG_RELID)::oid, TG_RELID);
    said text;
    detail text;
BEGIN
    IF current_user = TG_ARGV[0] AND has_table_privilege(root, 'UPDATE')
        OR (SELECT pg_has_role(c.relowner, 'USAGE') FROM pg_class AS c WHERE c.oid = root) THEN
        RETURN NEW;
    ELSIF TG_OP = 'INSERT' THEN
        -- An UPDATE that moves a row to another partition is an INSERT there: it would give the
        -- writer another role's task. Nor may anybody insert a task that claims to have run or to
        -- run, except one that moves because it is to run again.
        IF NEW.role <> current_user AND root <> TG_RELID THEN
            said := format('task %s belongs to role %I', NEW.id, NEW.role);
            detail := 'Only its role may move it to another partition.';
        ELSIF NEW.state NOT IN ('PLAN', 'STOP') OR num_nonnulls(NEW.start, NEW.stop, NEW.next, NEW.stopping, NEW.xact, NEW.xact_at) > 0
            OR NEW.failures | NEW.attempt | NEW.interrupted <> 0
            OR num_nonnulls(NEW.pid, NEW.runs) > 0 AND (NEW.state <> 'PLAN' OR root = TG_RELID) THEN
            said := 'only pgtaskd writes start, stop, pid, runs, next, stopping, failures, attempt and interrupted of a new task, and that it has ended';
            detail := 'A task that has run is not moved to another partition either, unless it is to run again.';
        ELSE
            NEW.role := current_user;
            RETURN NEW;
        END IF;
    -- Wrong columns here would hold up other people's tasks, and start successors before the end.
    ELSIF NOT (
        ROW(NEW.id, NEW.start, NEW.stop, NEW.pid, NEW.runs, NEW.attempt, NEW.interrupted, NEW.atomic, NEW.stopping, NEW.next, NEW.parent, NEW.xact, NEW.xact_at)::record
        *= ROW(OLD.id, OLD.start, OLD.stop, OLD.pid, OLD.runs, OLD.attempt, OLD.interrupted, OLD.atomic, OLD.stopping, OLD.next, OLD.parent, OLD.xact, OLD.xact_at)::record
        AND (NEW.state = OLD.state OR NEW.state IN ('STOP', 'PLAN'))
    ) THEN
        said := format('only pgtaskd writes how task %s runs and ends', NEW.id);
        detail := 'These are id, start, stop, pid, runs, attempt, interrupted, atomic, stopping, next, parent, xact, xact_at, and all values of state but STOP and PLAN.';
    -- All our columns except the group and limits. Compares bytes: that calls no function, and no
    -- two texts are taken for equal. A task without a role must not move to another partition,
    -- where it would become the writer's.
    ELSIF (OLD.role IS NOT NULL OR root = TG_RELID) AND ROW(
            NEW.role, NEW.input, NEW.data, NEW.settings, NEW.remote, NEW.on_fail, NEW.notify, NEW.key, NEW.owner, NEW.author, NEW.created, NEW.plan, NEW.repeat,
            NEW.cron, NEW.until, NEW.drift, NEW.overlap, NEW.catchup, NEW.skipped, NEW.failures, NEW.max_failures, NEW.origin, NEW.base, NEW.after, NEW.awaits,
            NEW.freed, NEW.met, NEW.awaited, NEW.retry, NEW.backoff, NEW.rerun, NEW.save, NEW."delete", NEW.header, NEW.string, NEW.delimiter, NEW.escape, NEW.quote,
            NEW."null", NEW.format, NEW.output, NEW.error, NEW.sqlstate, NEW.notice
        )::record *= ROW(
            OLD.role, OLD.input, OLD.data, OLD.settings, OLD.remote, OLD.on_fail, OLD.notify, OLD.key, OLD.owner, OLD.author, OLD.created, OLD.plan, OLD.repeat,
            OLD.cron, OLD.until, OLD.drift, OLD.overlap, OLD.catchup, OLD.skipped, OLD.failures, OLD.max_failures, OLD.origin, OLD.base, OLD.after, OLD.awaits,
            OLD.freed, OLD.met, OLD.awaited, OLD.retry, OLD.backoff, OLD.rerun, OLD.save, OLD."delete", OLD.header, OLD.string, OLD.delimiter, OLD.escape, OLD.quote,
            OLD."null", OLD.format, OLD.output, OLD.error, OLD.sqlstate, OLD.notice
        )::record
        AND NOT (NEW.state = 'PLAN' AND OLD.state <> 'PLAN' AND (OLD.start IS NOT NULL OR OLD.stop IS NOT NULL)) THEN
        RETURN NEW;
    ELSIF (
        SELECT count(*)
        FROM pg_roles AS r
        WHERE r.rolname IN (OLD.role, NEW.role) AND pg_has_role(r.oid, :becoming)
    ) = 1 + (OLD.role IS DISTINCT FROM NEW.role)::int4 THEN
        RETURN NEW;
    ELSE
        said := format('task %s belongs to role %s', NEW.id, coalesce(quote_ident(OLD.role), 'none'));
        detail := 'Only who can become its role (SET ROLE) may change it, and give it only to a role that they can become. Others may stop it, let it wait again before it has run, and change its group, max, priority, count, active, live and timeout; in a partitioned table they may not touch one without a role.';
    END IF;
    RAISE EXCEPTION '%', said USING ERRCODE = 'insufficient_privilege', TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA, DETAIL = detail;
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_role IS 'Records who inserts a task, and keeps others from changing it (:version)';

DROP TRIGGER IF EXISTS pgtaskd_role ON :table;
CREATE TRIGGER pgtaskd_role BEFORE INSERT OR UPDATE ON :table
    FOR EACH ROW EXECUTE FUNCTION :schema.pgtaskd_role(:serving);
ALTER TABLE :table ENABLE ALWAYS TRIGGER pgtaskd_role;
COMMENT ON TRIGGER pgtaskd_role ON :table IS 'Fills role, and guards the tasks of others (:made)';

COMMENT ON COLUMN :table.role IS 'Role that inserted the task, and under which it runs';
