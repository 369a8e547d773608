-- What a table has besides where each task runs under the role that inserted it.

-- What is there already has run under the serving role until now; where the function is there, under
-- those that nobody knows any more.
ALTER TABLE :table ADD COLUMN IF NOT EXISTS role pg_catalog.text
    DEFAULT CASE WHEN pg_catalog.to_regprocedure(pg_catalog.concat(pg_catalog.quote_ident(:schema_text), '.pgtaskd_role_:hash()')) IS NULL THEN :serving END;
ALTER TABLE :table ALTER COLUMN role SET DEFAULT current_user;

-- Who can write the table as its owner can write any name into role: the serving role, whose
-- repetitions keep that of their chain, too. Its name may have come to be another's, who may not.
-- NULL stays NULL: nobody knows whose SQL such a task has, nor whose that is which follows it.
-- All others get their own, whatever their INSERT says, and change no task of a role that they are
-- no member of. It fires for replication as well.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_role_:hash() RETURNS pg_catalog.trigger LANGUAGE plpgsql SECURITY INVOKER AS $$
DECLARE
    changed pg_catalog.bool; -- null: it is not the owner's session
BEGIN
    IF current_user OPERATOR(pg_catalog.=) :serving
        AND pg_catalog.has_table_privilege(coalesce(pg_catalog.pg_partition_root(TG_RELID)::pg_catalog.oid, TG_RELID), 'UPDATE') THEN
        RETURN NEW;
    END IF;
    -- Whoever owned the table when the transaction began may own it no more.
    changed := (
        SELECT :changed_c
        FROM pg_catalog.pg_class AS c
        WHERE c.oid OPERATOR(pg_catalog.=) coalesce(pg_catalog.pg_partition_root(TG_RELID)::pg_catalog.oid, TG_RELID)
            AND pg_catalog.pg_has_role(c.relowner, 'USAGE')
    );
    IF changed THEN
        RAISE EXCEPTION 'table % has been changed since this transaction began', TG_RELID::pg_catalog.regclass
            USING ERRCODE = 'serialization_failure', TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA, HINT = 'Begin another transaction.';
    ELSIF NOT changed THEN
        RETURN NEW;
    END IF;
    IF TG_OP OPERATOR(pg_catalog.=) 'INSERT' THEN
        -- An UPDATE that moves a row to another partition is an INSERT there: the task of another
        -- role would become one's own.
        IF NEW.role OPERATOR(pg_catalog.<>) current_user AND pg_catalog.pg_partition_root(TG_RELID) IS NOT NULL THEN
            RAISE EXCEPTION 'task % belongs to role %', NEW.id, pg_catalog.quote_ident(NEW.role)
                USING ERRCODE = 'insufficient_privilege', TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA,
                DETAIL = 'Only its role may move it to another partition.', HINT = 'A new task is given no role.';
        END IF;
        -- Nor is a task that claims to have run, or to be under way, one's own to make, but for one that
        -- has moved to another partition since it is to run again.
        IF NEW.state OPERATOR(pg_catalog.<>) ALL ('{PLAN,STOP}')
            OR pg_catalog.num_nonnulls(NEW.start, NEW.stop, NEW.next, NEW.stopping) OPERATOR(pg_catalog.>) 0
            OR (NEW.failures OPERATOR(pg_catalog.|) NEW.attempt OPERATOR(pg_catalog.|) NEW.interrupted) OPERATOR(pg_catalog.<>) 0
            OR pg_catalog.num_nonnulls(NEW.pid, NEW.runs) OPERATOR(pg_catalog.>) 0
            AND (NEW.state OPERATOR(pg_catalog.<>) 'PLAN' OR pg_catalog.pg_partition_root(TG_RELID) IS NULL) THEN
            RAISE EXCEPTION 'only pgtaskd writes start, stop, pid, runs, next, stopping, failures, attempt and interrupted of a new task, and that it has ended'
                USING ERRCODE = 'insufficient_privilege', TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA,
                DETAIL = 'A task that has run is not moved to another partition either, unless it is to run again.', HINT = 'Leave them out.';
        END IF;
        NEW.role := current_user;
        RETURN NEW;
    END IF;
    -- What tells whose run a row is, and whether it runs or has ended: others would be held up by
    -- what is wrong there, and what follows a task would start before its end.
    IF NOT (
        ROW(NEW.id, NEW.start, NEW.stop, NEW.pid, NEW.runs, NEW.attempt, NEW.interrupted, NEW.atomic, NEW.stopping, NEW.next, NEW.parent)::pg_catalog.record
        OPERATOR(pg_catalog.*=)
        ROW(OLD.id, OLD.start, OLD.stop, OLD.pid, OLD.runs, OLD.attempt, OLD.interrupted, OLD.atomic, OLD.stopping, OLD.next, OLD.parent)::pg_catalog.record
        AND (NEW.state OPERATOR(pg_catalog.=) OLD.state OR NEW.state OPERATOR(pg_catalog.=) ANY ('{STOP,PLAN}'))
    ) THEN
        RAISE EXCEPTION 'only pgtaskd writes how task % runs and ends', NEW.id USING ERRCODE = 'insufficient_privilege', TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA,
            DETAIL = 'These are id, start, stop, pid, runs, attempt, interrupted, atomic, stopping, next, parent, and all values of state but STOP and PLAN.';
    END IF;
    -- All columns of ours but those of its group and limits: what a task is and does, when it runs
    -- and how often, and how it has ended. Compared by their bytes, which calls nothing, and takes
    -- no two texts for the same. A task without a role is not moved to another partition, where it
    -- would become one's own.
    IF (OLD.role IS NOT NULL OR pg_catalog.pg_partition_root(TG_RELID) IS NULL) AND ROW(
            NEW.role, NEW.input, NEW.data, NEW.settings, NEW.remote, NEW.on_fail, NEW.notify, NEW.key, NEW.owner, NEW.author, NEW.created,
            NEW.plan, NEW.repeat, NEW.cron, NEW.until, NEW.drift, NEW.overlap, NEW.catchup, NEW.skipped, NEW.failures, NEW.max_failures, NEW.origin, NEW.base, NEW.after, NEW.awaits, NEW.freed, NEW.met, NEW.awaited,
            NEW.retry, NEW.backoff, NEW.rerun, NEW.save, NEW."delete", NEW.header, NEW.string, NEW.delimiter, NEW.escape, NEW.quote, NEW."null",
            NEW.output, NEW.error, NEW.sqlstate, NEW.notice
        )::pg_catalog.record OPERATOR(pg_catalog.*=) ROW(
            OLD.role, OLD.input, OLD.data, OLD.settings, OLD.remote, OLD.on_fail, OLD.notify, OLD.key, OLD.owner, OLD.author, OLD.created,
            OLD.plan, OLD.repeat, OLD.cron, OLD.until, OLD.drift, OLD.overlap, OLD.catchup, OLD.skipped, OLD.failures, OLD.max_failures, OLD.origin, OLD.base, OLD.after, OLD.awaits, OLD.freed, OLD.met, OLD.awaited,
            OLD.retry, OLD.backoff, OLD.rerun, OLD.save, OLD."delete", OLD.header, OLD.string, OLD.delimiter, OLD.escape, OLD.quote, OLD."null",
            OLD.output, OLD.error, OLD.sqlstate, OLD.notice
        )::pg_catalog.record
        AND NOT (NEW.state OPERATOR(pg_catalog.=) 'PLAN' AND OLD.state OPERATOR(pg_catalog.<>) 'PLAN' AND (OLD.start IS NOT NULL OR OLD.stop IS NOT NULL)) THEN
        RETURN NEW;
    END IF;
    IF (
        SELECT pg_catalog.count(*)
        FROM pg_catalog.pg_roles AS r
        WHERE (r.rolname OPERATOR(pg_catalog.=) OLD.role OR r.rolname OPERATOR(pg_catalog.=) NEW.role)
            AND pg_catalog.pg_has_role(r.oid, :becoming)
            AND pg_catalog.pg_get_userbyid(r.oid) OPERATOR(pg_catalog.=) r.rolname -- nor is it another's name since
    ) OPERATOR(pg_catalog.<) (CASE WHEN OLD.role OPERATOR(pg_catalog.=) NEW.role THEN 1 ELSE 2 END) THEN
        RAISE EXCEPTION 'task % belongs to role %', NEW.id, coalesce(pg_catalog.quote_ident(OLD.role), 'none')
            USING ERRCODE = 'insufficient_privilege', TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA,
            DETAIL = 'Only who can become its role (SET ROLE) may change it, and give it only to a role that they can become. Others may stop it, let it wait again before it has run, and change its group, max, priority, count, active, live and timeout; in a partitioned table they may not touch one without a role.';
    END IF;
    RETURN NEW;
END
$$;
GRANT USAGE ON DOMAIN :schema.pgtaskd_call_:hash TO :serving_role; -- for the function that writes ends

DROP TRIGGER IF EXISTS pgtaskd_role ON :table;
CREATE TRIGGER pgtaskd_role BEFORE INSERT OR UPDATE ON :table
    FOR EACH ROW EXECUTE FUNCTION :schema.pgtaskd_role_:hash();
ALTER TABLE :table ENABLE ALWAYS TRIGGER pgtaskd_role;
COMMENT ON TRIGGER pgtaskd_role ON :table IS 'Fills role, and guards the tasks of others';
COMMENT ON FUNCTION :schema.pgtaskd_role_:hash() IS 'Writes down who inserts a task, and keeps others from changing what it does (:version)';

-- Also where somebody has said there that its values count: they did, up to here.
COMMENT ON COLUMN :table.role IS 'Who inserted the task, and under whom it runs';
