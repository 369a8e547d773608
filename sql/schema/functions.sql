-- The functions that the tables of a schema share. They run as the role that changes the row.

-- Checks each new task, and each new plan of a task. Nearly all rows leave at the second condition:
-- setting the path would cost each row 8 %, so these are checked without operators, and without
-- names that lack a schema. record_image_eq compares bytes, which distinguishes '24 hours' from
-- '1 day'. told is the target of assignments, because the server runs PERFORM as a statement of its
-- own. An error undoes the path.
-- It wakes the leader if the leader sleeps, which means that the leader holds the lock alone. It
-- need not tell a leader that is awake: this transaction shares the lock until it commits, so the
-- leader cannot fall asleep before it has seen the row. Tasks for later wake nobody: each leader
-- looks by itself every 30 s. Plan and intervals are bounded, so that no expression of ours
-- overflows; a period whose parts have one sign never steps back, whatever month it is added to. A
-- pause is -max milliseconds. OLD is null at an INSERT. An UPDATE that moves a row to another
-- partition is an INSERT there. Each text of said begins with a column's name.
-- The leader finds the beats of a cron expression, and plans the task. If origin is infinite, the
-- task has a plan, and the leader only checks that it can read cron. A parked task that gets the
-- plan of an INSERT is planned like one. A changed repeat counts from the beat before.
-- A series that somebody inserts or changes needs a run by its until, with catchup also a missed
-- one; repetitions have an origin.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_accept() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    root pg_catalog.oid := coalesce(pg_catalog.pg_partition_root(TG_RELID)::pg_catalog.oid, TG_RELID);
    told pg_catalog.bool;
    path pg_catalog.text;
    wrong pg_catalog.text;
    said pg_catalog.text;
    renewed pg_catalog.bool;
BEGIN
    IF pg_catalog.timestamptz_lt(NEW.plan, pg_catalog.timestamptz_pl_interval(pg_catalog.statement_timestamp(), '2 min')) OR NEW.cron IS NOT NULL OR NEW.after IS NOT NULL THEN
        told := pg_catalog.texteq(TG_OP, 'UPDATE')
            OR pg_catalog.pg_try_advisory_xact_lock_shared(pg_catalog.int8pl(:wake, root::pg_catalog.int8))
            OR pg_catalog.pg_notify(pg_catalog.concat('pgtaskd_', root), '') IS NOT NULL;
    END IF;
    IF pg_catalog.timestamptz_ge(NEW.plan, '2000-01-01 00:00:00+00 BC') AND pg_catalog.timestamptz_lt(NEW.plan, '10000-01-01 00:00:00+00')
        AND pg_catalog.record_image_eq(
            ROW(NEW.active, NEW.backoff, NEW.live, NEW.repeat, NEW.timeout, NEW.overlap, NEW.catchup, NEW.max_failures),
            ROW(interval '1 hour', interval '1 min', interval '0', interval '0', interval '0', false, 0, 0))
        AND pg_catalog.int4ge(least(NEW.count, NEW.retry), 0) AND pg_catalog.int4gt(NEW.max, -2147483648) AND pg_catalog.texteq(NEW.state::pg_catalog.text, 'PLAN')
        AND ROW(NEW.cron, NEW.after, NEW.awaits, NEW.notify, NEW.settings, NEW.base) IS NULL
        AND pg_catalog.int4le(pg_catalog.octet_length(pg_catalog.concat(NEW."group", NEW."null", NEW.remote, NEW.key)), 1024)
        AND (pg_catalog.texteq(NEW.format, 'text') OR pg_catalog.texteq(NEW.format, 'json'))
        AND (NEW.remote IS NULL OR pg_catalog.has_column_privilege(root, 'remote', 'INSERT')) THEN
        RETURN NEW;
    END IF;
    path := pg_catalog.current_setting('search_path');
    told := pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true) IS NOT NULL;
    renewed := (OLD.after = NEW.after) IS NOT TRUE;
    wrong := coalesce((
        SELECT i.name
        FROM (VALUES ('active', NEW.active), ('live', NEW.live), ('repeat', NEW.repeat), ('timeout', NEW.timeout), ('backoff', NEW.backoff)) AS i (name, span)
        WHERE i.span < '0' OR i.span > '1000 years' OR abs(date_part('year', i.span)) > 1000 OR abs(date_part('day', i.span)) > 400000
        LIMIT 1
    ), CASE
        WHEN least(NEW.plan, NEW.base) < '2000-01-01 00:00:00+00 BC' OR greatest(nullif(NEW.plan, 'infinity'), NEW.base) >= '10000-01-01 00:00:00+00' THEN 'plan'
        WHEN NEW.backoff = '0' THEN 'backoff'
        WHEN least(date_trunc('month', NEW.repeat), date_trunc('day', NEW.repeat) - date_trunc('month', NEW.repeat), NEW.repeat - date_trunc('day', NEW.repeat)) < '0' THEN 'repeat'
        WHEN NEW.count < 0 THEN 'count'
        WHEN NEW.max = -2147483648 THEN 'max'
        WHEN NEW.retry < 0 THEN 'retry'
        WHEN NEW.catchup < 0 THEN 'catchup'
        WHEN NEW.max_failures < 0 THEN 'max_failures'
        WHEN NEW.notify = '' OR octet_length(NEW.notify) > 63 THEN 'notify'
    END);
    said := coalesce(wrong || ' is out of range', CASE
        WHEN TG_OP = 'INSERT' AND root = TG_RELID AND NEW.state IN ('TAKE', 'WORK') THEN concat('state of a new task can not be ', NEW.state)
        WHEN TG_OP = 'INSERT' AND NEW.remote = nullif(current_setting('pg_task.remote', true), '') AND NOT has_column_privilege(root, 'remote', 'INSERT')
            THEN 'remote is that of the setting pg_task.remote, which needs the right to INSERT it: RESET pg_task.remote'
        WHEN octet_length(NEW.key) > 1024 THEN 'key is too long: it may have 1 kB'
        WHEN NEW.format NOT IN ('text', 'json') THEN 'format is neither text nor json'
        WHEN jsonb_typeof(NEW.settings) <> 'object' OR octet_length(NEW.settings::text) > 65536
            OR NEW.settings @? 'strict $.* ? (@.type() like_regex "object|array|null")'
            THEN 'settings are no object of texts, numbers and booleans, such as {"work_mem": "64MB"}, of at most 64 kB'
        WHEN NEW.overlap AND NEW.key IS NOT NULL AND NEW.retry > 0 THEN 'overlap does not go with a key and retry'
        WHEN NEW.cron IS NOT NULL AND NEW.repeat > '0' THEN 'cron does not go with repeat'
        WHEN NEW.cron IS NOT NULL AND (OLD.cron = NEW.cron) IS NOT TRUE THEN 'cron: ' || :schema.pgtaskd_cron(NEW.cron)
    END, CASE
        WHEN NEW.state NOT IN ('PLAN', 'STOP') OR NEW.attempt > 0 OR num_nonnulls(NEW.stop, NEW.base) > 0 OR TG_OP = 'INSERT' AND NEW.origin IS NOT NULL
            OR (OLD.until, OLD.cron, OLD.repeat) IS NOT DISTINCT FROM (NEW.until, NEW.cron, NEW.repeat) THEN NULL
        WHEN NEW.until IS NOT NULL AND NEW.cron IS NOT NULL AND NEW.plan = coalesce(OLD.plan, statement_timestamp()) THEN :schema.pgtaskd_cron(NEW.cron, NEW.until, current_setting('TimeZone'))
        WHEN NEW.until < greatest(nullif(NEW.plan, 'infinity'), CASE WHEN NEW.catchup = 0 AND TG_OP = 'INSERT' THEN statement_timestamp() END) AND (NEW.cron IS NOT NULL OR NEW.repeat > '0') THEN 'until is before the first run'
    END, CASE WHEN NEW.after IS NOT NULL AND renewed THEN :schema.pgtaskd_after(CASE WHEN TG_OP = 'INSERT' THEN NEW.id END, NEW.after, root::regclass) END, (
        SELECT l.name || ' is too long: it may have 64 kB'
        FROM (VALUES ('group', NEW."group"), ('remote', NEW.remote), ('null', NEW."null")) AS l (name, value)
        WHERE octet_length(l.value) > 65536
        LIMIT 1));
    IF said IS NOT NULL THEN
        RAISE EXCEPTION '%', said USING ERRCODE = 'check_violation', COLUMN = substring(said FROM '^[a-z_]+');
    ELSIF renewed THEN
        NEW.met := NULL;
    END IF;
    IF NEW.state NOT IN ('PLAN', 'STOP') OR NEW.stop IS NOT NULL OR NEW.stopping THEN
        NEW.freed := CASE WHEN NEW.after IS NULL THEN NEW.freed ELSE coalesce(NEW.freed, '-infinity') END;
        told := set_config('search_path', path, true) IS NOT NULL;
        RETURN NEW;
    ELSIF renewed AND num_nonnulls(NEW.after, OLD.after, NEW.awaits) > 0 THEN
        NEW.awaits := NULL; NEW.freed := NULL;
    END IF;
    IF NEW.cron IS NOT NULL AND TG_OP = 'INSERT' THEN
        NEW.origin := coalesce(NEW.origin, CASE WHEN NEW.plan = statement_timestamp() THEN NEW.plan ELSE '-infinity' END);
    ELSIF NEW.cron IS NOT NULL AND (OLD.cron = NEW.cron) IS NOT TRUE THEN
        NEW.base := NULL; NEW.origin := '-infinity';
        IF NEW.plan = OLD.plan AND NEW.plan < 'infinity' THEN
            NEW.plan := statement_timestamp(); NEW.origin := NEW.plan;
        END IF;
    ELSIF NEW.cron IS NOT NULL THEN
        NEW.origin := CASE
            WHEN OLD.plan = 'infinity' AND NEW.plan = statement_timestamp() THEN NEW.plan
            WHEN NEW.plan <> OLD.plan AND NEW.origin = OLD.origin THEN '-infinity'
            ELSE NEW.origin
        END;
    ELSIF OLD.cron IS NOT NULL THEN
        NEW.origin := NULL;
    ELSIF NEW.plan = OLD.plan AND NEW.plan < 'infinity' AND NEW.repeat <> OLD.repeat AND NEW.repeat > '0' AND OLD.repeat > '0' AND OLD.origin IS NOT NULL THEN
        NEW.origin := coalesce(OLD.base, OLD.plan) - OLD.repeat;
        NEW.base := NULL;
        NEW.plan := :schema.pgtaskd_beat(NEW.origin, NEW.repeat, statement_timestamp());
    END IF;
    told := set_config('search_path', path, true) IS NOT NULL;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_accept IS 'Checks tasks (:version)';

-- The first of the beats origin + k * period that is not before a moment.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_beat(origin timestamptz, period interval, moment timestamptz) RETURNS timestamptz LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(min(b.beat), moment + period)
    FROM generate_series(-3, 3) AS near
    CROSS JOIN LATERAL (SELECT origin + period * greatest(1, floor(date_part('epoch', moment - origin) / date_part('epoch', period)) + near) AS beat) AS b
    WHERE b.beat >= moment
$$;
COMMENT ON FUNCTION :schema.pgtaskd_beat IS 'The next beat of a period (:version)';

-- Tells the leader to look. No change of a row must fail because the server's notification queue is
-- full: then the leader looks by itself.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_tell(relation oid, what text) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pg_notify(concat('pgtaskd_', left(encode(sha256(convert_to(format('"%s"."%s"',
        replace(n.nspname, '"', '""'), replace(c.relname, '"', '""')), 'UTF8')), 'hex'), 16)), what)
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.oid = coalesce(pg_partition_root(relation)::oid, relation) AND pg_notification_queue_usage() < 0.9;
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_tell IS 'Tells the leader to look (:version)';

CREATE OR REPLACE FUNCTION :schema.pgtaskd_wake() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM :schema.pgtaskd_tell(TG_RELID, '');
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_wake IS 'Wakes the leader (:version)';

-- STOP on an ended task: the old state is put back, and its repetition is stopped after the
-- statement, which may be about to update the repetition itself. STOP on a running task: stopping
-- is set until the end is written. STOP on a prepared task: stopping remembers it. STOP on a
-- waiting task: it is paused.
-- PLAN on an ended task, or on one that was stopped while it ran and has no end yet: it waits again
-- like a new task, for the same tasks, and runs keeps the old run. PLAN on a prepared task: nothing
-- changes. PLAN on a paused task of a series: it waits for its next beat if that of its plan is no
-- longer worth a run, or is not planned yet.
-- Only pgtaskd itself may write other states. Its sessions are known by their name, by a right that
-- a role which may only stop tasks lacks, and, if tasks run under the roles that insert them, by
-- the role in the arguments of trigger pgtaskd_role.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_state() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    root oid := coalesce(pg_partition_root(TG_RELID)::oid, TG_RELID);
    writes bool := has_table_privilege(root, 'UPDATE');
    itself bool := writes AND current_setting('application_name') LIKE 'pgtaskd %' AND NOT EXISTS (
        SELECT FROM pg_trigger AS g
        WHERE g.tgrelid = root AND g.tgname = 'pgtaskd_role' AND g.tgargs <> convert_to(current_user, getdatabaseencoding()) || decode('00', 'hex'));
    beat timestamptz := coalesce(NEW.base, NEW.plan);
    late bool;
BEGIN
    IF NEW.state IN ('TAKE', 'WORK') OR NEW.state NOT IN ('STOP', 'PLAN') AND NOT writes THEN
        RAISE EXCEPTION 'task % can not be set to %', NEW.id, NEW.state USING ERRCODE = 'check_violation',
            HINT = 'Set STOP to stop or pause it, and PLAN to let it run.';
    ELSIF OLD.state = 'WORK' AND OLD.xact IS NOT NULL AND NOT itself THEN
        IF NEW.state = 'STOP' THEN
            NEW.stopping := true;
            PERFORM :schema.pgtaskd_tell(TG_RELID, '');
        END IF;
        NEW.state := OLD.state;
        RETURN NEW;
    ELSIF NEW.state = 'STOP' AND OLD.state IN ('DONE', 'FAIL', 'GONE') THEN
        NEW.state := OLD.state;
        IF OLD.next IS NOT NULL THEN
            NEW.stopping := CASE WHEN OLD.stopping IS NULL THEN false END;
        END IF;
        RETURN NEW;
    ELSIF NEW.state = 'STOP' AND OLD.state IN ('TAKE', 'WORK') AND OLD.xact IS NULL THEN
        NEW.stopping := true;
    ELSIF NEW.state = 'PLAN' THEN
        NEW.stopping := NULL;
        late := OLD.state = 'STOP' AND OLD.stop IS NULL AND NEW.attempt = 0 AND NEW.active > '0' AND NEW.catchup = 0 AND greatest(beat, NEW.freed) + NEW.active < statement_timestamp();
        IF NEW.cron IS NOT NULL AND (late OR OLD.state = 'STOP' AND OLD.stop IS NULL AND NEW.origin > '-infinity') THEN
            NEW.origin := coalesce(nullif(NEW.origin, '-infinity'), beat);
            NEW.plan := statement_timestamp(); NEW.base := NULL;
        ELSIF late AND NEW.repeat > '0' THEN
            beat := :schema.pgtaskd_beat(coalesce(NEW.origin, beat), NEW.repeat, statement_timestamp());
            IF (beat > NEW.until) IS NOT TRUE THEN NEW.plan := beat; NEW.base := NULL; END IF;
        END IF;
        IF OLD.state = 'STOP' AND NEW.max_failures > 0 AND NEW.failures >= NEW.max_failures THEN
            NEW.failures := 0; NEW.error := NULL;
        END IF;
        IF NEW.stop = OLD.stop OR OLD.state = 'STOP' AND OLD.stop IS NULL AND NEW.start = OLD.start THEN
            NEW.start := NULL; NEW.stop := NULL; NEW.attempt := 0; NEW.interrupted := 0; NEW.base := NULL;
            NEW.awaits := NULL; NEW.freed := NULL;
            IF NEW.plan = OLD.plan AND NEW.plan < statement_timestamp() THEN NEW.plan := statement_timestamp(); END IF;
            NEW.runs := CASE WHEN jsonb_array_length(OLD.runs) >= 20 THEN OLD.runs - 0 ELSE coalesce(OLD.runs, '[]') END
                || jsonb_build_object('start', OLD.start, 'stop', coalesce(OLD.stop, statement_timestamp()), 'pid', OLD.pid, 'state', OLD.state,
                    'error', left(OLD.error, 1000), 'cause', CASE WHEN OLD.stop IS NULL THEN 'stopped' ELSE 'run again' END);
        END IF;
    END IF;
    IF NEW.state IN ('STOP', 'PLAN') THEN PERFORM :schema.pgtaskd_tell(TG_RELID, ''); END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_state IS 'Handles changes of state (:version)';

-- Stops the repetition of a task that somebody has set to STOP; of an ended task it knows that by
-- the change of stopping. If the chain has gone on since the statement began, it stops the task
-- that waits or runs by now; next may lead in a circle, hence UNION. The path is the session's own,
-- since users' triggers may find names by it. So states are compared as text, for which the server
-- has an operator.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_stop_next() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (CASE
            WHEN OLD.state::text IN ('DONE', 'FAIL', 'GONE') THEN NEW.state::text = OLD.state::text AND (NEW.stopping IS NULL) <> (OLD.stopping IS NULL)
            ELSE OLD.overlap AND (NEW.state::text = 'STOP' OR OLD.xact IS NOT NULL AND NEW.stopping)
        END) THEN
        EXECUTE format($q$WITH RECURSIVE chain AS (
                SELECT t.id, t.state::text, t.stop, t.next FROM %1$s AS t WHERE t.id = $1
                UNION SELECT t.id, t.state::text, t.stop, t.next FROM chain AS c JOIN %1$s AS t ON t.id = c.next WHERE c.stop > statement_timestamp()
            )
            UPDATE %1$s AS t SET state = 'STOP' FROM chain AS c WHERE t.id = c.id AND c.state IN ('PLAN', 'TAKE', 'WORK')$q$,
            coalesce(pg_partition_root(TG_RELID)::oid, TG_RELID)::regclass) USING OLD.next;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_stop_next IS 'Stops the repetition of a task (:version)';
