-- Shared by all task tables of the schema. They run as whoever changes the row, with that session's search_path.

-- What a new task passes, or a new plan of one.
-- It wakes the leader, if that sleeps: then the leader holds the lock alone. One that is awake does not, and need not be told; we share the lock until we have committed,
-- so that it cannot fall asleep before it has seen what we insert. Where nobody leads, the next leader looks. Tasks for later wake nobody: within 30 s each leader looks
-- by itself when the next is due.
-- It keeps numbers in range, and plan and the intervals within what no expression of ours can overflow. Mixed signs ('300000 years -109500000 days') pass a
-- comparison of the whole: years and days are bounded as well. A period of one sign never steps back, whatever month it is added to.
-- It refuses names that are too long for what waits to be kept in memory, and columns that nothing acts on yet.
-- Nearly all rows leave by the second condition, which is short, since each part of an expression has to be made ready anew in every transaction: the
-- defaults of the intervals are compared by their binary form, which tells '24 hours' from '1 day'. A function's body is read as the session of whoever
-- changes the row reads strings: none has a backslash but behind an E, which means the same with and without standard_conforming_strings.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_accept() RETURNS trigger LANGUAGE plpgsql SECURITY INVOKER AS $$
DECLARE
    told pg_catalog.bool; -- assigned, since PERFORM is a statement of its own for the server
    wrong pg_catalog.text;
BEGIN
    IF NEW.plan < pg_catalog.statement_timestamp() + '2 min' THEN
        told := TG_OP = 'UPDATE'
            OR pg_catalog.pg_try_advisory_xact_lock_shared(:wake + coalesce(pg_catalog.pg_partition_root(TG_RELID), TG_RELID)::pg_catalog.int8)
            OR pg_catalog.pg_notify(pg_catalog.concat('pgtaskd_', coalesce(pg_catalog.pg_partition_root(TG_RELID), TG_RELID)::pg_catalog.int8), '') IS NOT NULL;
    END IF;
    IF NEW.plan >= '2000-01-01 00:00:00+00 BC' AND NEW.plan < '10000-01-01 00:00:00+00'
        AND pg_catalog.interval_send(NEW.active) = E'\\x00000000d693a4000000000000000000' -- 1 hour
        AND pg_catalog.interval_send(NEW.backoff) = E'\\x00000000039387000000000000000000' -- 1 min
        AND pg_catalog.interval_send(NEW.live) = E'\\x00000000000000000000000000000000'
        AND pg_catalog.interval_send(NEW.repeat) = E'\\x00000000000000000000000000000000'
        AND pg_catalog.interval_send(NEW.timeout) = E'\\x00000000000000000000000000000000'
        AND NEW.count >= 0 AND NEW.max > -2147483648 AND NEW.retry >= 0
        AND pg_catalog.num_nonnulls(NEW.cron, NEW.after, NEW.on_fail, NEW.notify, NEW.settings) OPERATOR(pg_catalog.=) 0
        AND NOT (NEW.overlap OR NEW.catchup)
        AND pg_catalog.octet_length(NEW."group") OPERATOR(pg_catalog.<=) 65536
        AND pg_catalog.octet_length(NEW."null") OPERATOR(pg_catalog.<=) 65536
        AND (NEW.remote IS NULL OR pg_catalog.octet_length(NEW.remote) OPERATOR(pg_catalog.<=) 65536)
        AND (NEW.key IS NULL OR pg_catalog.octet_length(NEW.key) OPERATOR(pg_catalog.<=) 1024) THEN
        RETURN NEW;
    END IF;
    -- What a row has had before is let alone: only a table without this trigger has let it in. OLD is null at an INSERT.
    wrong := CASE
        WHEN pg_catalog.octet_length(NEW."group") OPERATOR(pg_catalog.>) 65536 AND (OLD."group" OPERATOR(pg_catalog.=) NEW."group") IS NOT TRUE THEN 'group'
        WHEN pg_catalog.octet_length(NEW.remote) OPERATOR(pg_catalog.>) 65536 AND (OLD.remote OPERATOR(pg_catalog.=) NEW.remote) IS NOT TRUE THEN 'remote'
        WHEN pg_catalog.octet_length(NEW."null") OPERATOR(pg_catalog.>) 65536 AND (OLD."null" OPERATOR(pg_catalog.=) NEW."null") IS NOT TRUE THEN 'null'
        WHEN pg_catalog.octet_length(NEW.key) OPERATOR(pg_catalog.>) 1024 AND (OLD.key OPERATOR(pg_catalog.=) NEW.key) IS NOT TRUE THEN 'key'
    END;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'column % is too long', wrong USING ERRCODE = 'check_violation', COLUMN = wrong, TABLE = TG_TABLE_NAME,
            SCHEMA = TG_TABLE_SCHEMA, CONSTRAINT = pg_catalog.concat('pgtaskd_', wrong, '_check'),
            DETAIL = CASE wrong WHEN 'key' THEN 'It may have 1 kB.' ELSE 'It may have 64 kB.' END;
    END IF;
    wrong := CASE
        WHEN NEW.cron IS NOT NULL AND (OLD.cron OPERATOR(pg_catalog.=) NEW.cron) IS NOT TRUE THEN 'cron'
        WHEN NEW.after IS NOT NULL AND (OLD.after OPERATOR(pg_catalog.=) NEW.after) IS NOT TRUE THEN 'after'
        WHEN NEW.on_fail IS NOT NULL AND (OLD.on_fail OPERATOR(pg_catalog.=) NEW.on_fail) IS NOT TRUE THEN 'on_fail'
        WHEN NEW.notify IS NOT NULL AND (OLD.notify OPERATOR(pg_catalog.=) NEW.notify) IS NOT TRUE THEN 'notify'
        WHEN NEW.settings IS NOT NULL AND (OLD.settings OPERATOR(pg_catalog.=) NEW.settings) IS NOT TRUE THEN 'settings'
        WHEN NEW.overlap AND OLD.overlap IS NOT TRUE THEN 'overlap'
        WHEN NEW.catchup AND OLD.catchup IS NOT TRUE THEN 'catchup'
    END;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'column % is not acted on by this version', wrong USING ERRCODE = 'check_violation', COLUMN = wrong, TABLE = TG_TABLE_NAME,
            SCHEMA = TG_TABLE_SCHEMA, CONSTRAINT = pg_catalog.concat('pgtaskd_', wrong, '_check'),
            HINT = 'Leave it out, and see that no setting pg_task.* gives it a value.';
    END IF;
    wrong := CASE
        WHEN NEW.plan < '2000-01-01 00:00:00+00 BC' OR NEW.plan >= '10000-01-01 00:00:00+00' AND NEW.plan < 'infinity' THEN 'plan'
        WHEN NEW.active < '0' OR NEW.active > '1000 years'
            OR pg_catalog.abs(pg_catalog.date_part('year', NEW.active)) > 1000
            OR pg_catalog.abs(pg_catalog.date_part('day', NEW.active)) > 400000 THEN 'active'
        WHEN NEW.live < '0' OR NEW.live > '1000 years'
            OR pg_catalog.abs(pg_catalog.date_part('year', NEW.live)) > 1000
            OR pg_catalog.abs(pg_catalog.date_part('day', NEW.live)) > 400000 THEN 'live'
        WHEN NEW.repeat < '0' OR NEW.repeat > '1000 years'
            OR pg_catalog.date_part('year', NEW.repeat) < 0 OR pg_catalog.date_part('month', NEW.repeat) < 0
            OR pg_catalog.date_part('day', NEW.repeat) < 0 OR pg_catalog.date_part('hour', NEW.repeat) < 0
            OR pg_catalog.date_part('minute', NEW.repeat) < 0 OR pg_catalog.date_part('second', NEW.repeat) < 0 THEN 'repeat'
        WHEN NEW.timeout < '0' OR NEW.timeout > '1000 years'
            OR pg_catalog.abs(pg_catalog.date_part('year', NEW.timeout)) > 1000
            OR pg_catalog.abs(pg_catalog.date_part('day', NEW.timeout)) > 400000 THEN 'timeout'
        WHEN NEW.backoff <= '0' OR NEW.backoff > '1000 years'
            OR pg_catalog.abs(pg_catalog.date_part('year', NEW.backoff)) > 1000
            OR pg_catalog.abs(pg_catalog.date_part('day', NEW.backoff)) > 400000 THEN 'backoff'
        WHEN NEW.count < 0 THEN 'count'
        WHEN NEW.max = -2147483648 THEN 'max' -- a pause is -max milliseconds
        WHEN NEW.retry < 0 THEN 'retry'
    END;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION '% is out of range', wrong USING ERRCODE = 'check_violation', COLUMN = wrong, TABLE = TG_TABLE_NAME,
            SCHEMA = TG_TABLE_SCHEMA, CONSTRAINT = pg_catalog.concat('pgtaskd_', wrong, '_check');
    END IF;
    RETURN NEW;
END
$$;

CREATE OR REPLACE FUNCTION :schema.pgtaskd_wake() RETURNS trigger LANGUAGE plpgsql SECURITY INVOKER AS $$
DECLARE
    root pg_catalog.oid := pg_catalog.pg_partition_root(TG_RELID);
    schema pg_catalog.text := TG_TABLE_SCHEMA;
    name pg_catalog.text := TG_TABLE_NAME;
BEGIN
    -- A row's trigger is cloned to each partition and bears its name, but the leader listens for the whole table.
    IF root IS NOT NULL THEN
        SELECT n.nspname, c.relname INTO STRICT schema, name FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
        WHERE c.oid OPERATOR(pg_catalog.=) root;
    END IF;
    -- Of fixed length, because a channel's name of 64 bytes makes the INSERT fail.
    PERFORM pg_catalog.pg_notify(pg_catalog.concat('pgtaskd_', pg_catalog.left(pg_catalog.encode(pg_catalog.sha256(
        pg_catalog.convert_to(pg_catalog.concat('"', pg_catalog.replace(schema, '"', '""'), '"."',
            pg_catalog.replace(name, '"', '""'), '"'), 'UTF8')), 'hex'), 16)), '');
    RETURN NULL;
END
$$;

-- STOP on an ended task: the old state is put back and its repetition noted, to be stopped once the statement is over. It
-- cannot be stopped here, since the same statement may be about to update it too (27000).
-- STOP on a task that is under way: the row shows it until the end is written, whoever will write it. A task that only waits is paused.
-- PLAN on an ended task, or on one that was stopped while it ran and whose end nobody has written: it waits again, and runs keeps what was.
-- All but the first wake the leader, as pgtaskd_wake does. A trigger of its own for that would make the server read and plan one more condition for each end of a task.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_state() RETURNS trigger LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    root oid := coalesce(pg_partition_root(TG_RELID), TG_RELID);
    noted text := concat('pgtaskd.stop_', root);
    follows bool := false;
    waits int8;
BEGIN
    IF NEW.state = 'STOP' AND OLD.state IN ('DONE', 'FAIL', 'GONE') THEN
        NEW.state := OLD.state;
        IF OLD.next IS NOT NULL THEN
            -- One that has ended since the statement began is new to it as well, and may have a repetition of its own.
            EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE id = $1
                AND (state IN (''PLAN'', ''TAKE'', ''WORK'') OR stop > statement_timestamp()))', root::regclass)
                INTO follows USING OLD.next;
        END IF;
        IF follows THEN
            EXECUTE format('WITH RECURSIVE chain AS (
                    SELECT id, state, next FROM %1$s WHERE id = $1
                    UNION ALL
                    SELECT t.id, t.state, t.next FROM chain JOIN %1$s AS t ON t.id = chain.next
                    WHERE chain.state NOT IN (''PLAN'', ''TAKE'', ''WORK'')
                )
                SELECT id FROM chain WHERE state IN (''PLAN'', ''TAKE'', ''WORK'')', root::regclass)
                INTO waits USING OLD.next;
            PERFORM set_config(noted, concat_ws(',', nullif(current_setting(noted, true), ''), coalesce(waits, OLD.next)), true);
        END IF;
        RETURN NEW;
    END IF;
    IF NEW.state = 'STOP' AND OLD.state IN ('TAKE', 'WORK') THEN
        NEW.stopping := true;
    END IF;
    IF NEW.state = 'PLAN' THEN
        NEW.stopping := NULL;
        IF OLD.stop IS NOT NULL AND NEW.stop IS NOT DISTINCT FROM OLD.stop
            OR OLD.state = 'STOP' AND OLD.stop IS NULL AND OLD.start IS NOT NULL AND NEW.start IS NOT DISTINCT FROM OLD.start THEN
            NEW.start := NULL;
            NEW.stop := NULL;
            NEW.runs := CASE
                    WHEN jsonb_typeof(OLD.runs) <> 'array' THEN '[]'
                    WHEN jsonb_array_length(OLD.runs) >= 20 THEN OLD.runs - 0
                    ELSE coalesce(OLD.runs, '[]')
                END
                || jsonb_build_object('start', OLD.start, 'stop', coalesce(OLD.stop, statement_timestamp()), 'pid', OLD.pid,
                    'state', OLD.state, 'error', pg_catalog.left(OLD.error, 1000), 'cause', CASE WHEN OLD.stop IS NULL THEN 'stopped' ELSE 'run again' END);
        END IF;
    END IF;
    PERFORM pg_notify(concat('pgtaskd_', left(encode(sha256(convert_to(concat('"', replace(n.nspname, '"', '""'), '"."',
        replace(c.relname, '"', '""'), '"'), 'UTF8')), 'hex'), 16)), '')
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.oid = root;
    RETURN NEW;
END
$$;

CREATE OR REPLACE FUNCTION :schema.pgtaskd_stop_next() RETURNS trigger LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    root oid := coalesce(pg_partition_root(TG_RELID), TG_RELID);
    noted text := concat('pgtaskd.stop_', root);
    ids int8[] := string_to_array(nullif(current_setting(noted, true), ''), ',')::int8[];
BEGIN
    IF ids IS NOT NULL THEN
        PERFORM set_config(noted, '', true);
        EXECUTE format('UPDATE %s SET state = ''STOP'' WHERE id = ANY ($1)', root::regclass) USING ids;
    END IF;
    RETURN NULL;
END
$$;
