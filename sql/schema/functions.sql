-- Each table has its own, so that tables of different owners share nothing that runs. They run as
-- whoever changes the row, with that session's search_path.
-- So each function, operator and type is named with its schema, else the one that fits more exactly
-- is chosen, whoever made it.

-- What a new task passes, or a new plan of one.
-- It wakes the leader, if that sleeps: then the leader holds the lock alone. One that is awake does
-- not, and need not be told; we share the lock until we have committed, so that it cannot fall
-- asleep before it has seen what we insert. Where nobody leads, the next leader looks. Tasks for
-- later wake nobody: within 30 s each leader looks by itself when the next is due.
-- It keeps numbers in range, and plan and the intervals within what no expression of ours can
-- overflow. Mixed signs ('300000 years -109500000 days') pass a comparison of the whole: years and
-- days are bounded as well. A period of one sign never steps back, whatever month it is added to.
-- It refuses names that are too long for what waits to be kept in memory, and new tasks that are
-- said to run: they would take up places while the backend of their pid lives, whosever that is.
-- Nearly all rows leave by the second condition, which is short, since each part of an expression
-- has to be made ready again in every transaction: the defaults of the intervals are compared by
-- their binary form, which tells '24 hours' from '1 day'. A function's body is read as the session
-- of whoever changes the row reads strings: none has a backslash but behind an E, which means the
-- same with and without standard_conforming_strings.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_accept_:hash() RETURNS pg_catalog.trigger LANGUAGE plpgsql SECURITY INVOKER AS $$
DECLARE
    told pg_catalog.bool; -- assigned, since PERFORM is a statement of its own for the server
    wrong pg_catalog.text;
    another pg_catalog.bool; -- expression
    checked pg_catalog.text[]; -- what is wrong with cron, and with after
BEGIN
    IF NEW.plan OPERATOR(pg_catalog.<) (pg_catalog.statement_timestamp() OPERATOR(pg_catalog.+) '2 min') OR NEW.cron IS NOT NULL OR NEW.after IS NOT NULL THEN
        told := TG_OP OPERATOR(pg_catalog.=) 'UPDATE'
            OR pg_catalog.pg_try_advisory_xact_lock_shared(:wake OPERATOR(pg_catalog.+) coalesce(pg_catalog.pg_partition_root(TG_RELID), TG_RELID)::pg_catalog.int8)
            OR pg_catalog.pg_notify(pg_catalog.concat('pgtaskd_', coalesce(pg_catalog.pg_partition_root(TG_RELID), TG_RELID)::pg_catalog.int8), '') IS NOT NULL;
    END IF;
    IF NEW.plan OPERATOR(pg_catalog.>=) '2000-01-01 00:00:00+00 BC' AND NEW.plan OPERATOR(pg_catalog.<) '10000-01-01 00:00:00+00'
        AND pg_catalog.interval_send(NEW.active) OPERATOR(pg_catalog.=) E'\\x00000000d693a4000000000000000000' -- 1 hour
        AND pg_catalog.interval_send(NEW.backoff) OPERATOR(pg_catalog.=) E'\\x00000000039387000000000000000000' -- 1 min
        AND pg_catalog.interval_send(NEW.live) OPERATOR(pg_catalog.=) E'\\x00000000000000000000000000000000'
        AND pg_catalog.interval_send(NEW.repeat) OPERATOR(pg_catalog.=) E'\\x00000000000000000000000000000000'
        AND pg_catalog.interval_send(NEW.timeout) OPERATOR(pg_catalog.=) E'\\x00000000000000000000000000000000'
        AND NEW.count OPERATOR(pg_catalog.>=) 0
        AND NEW.max OPERATOR(pg_catalog.>) -2147483648
        AND NEW.retry OPERATOR(pg_catalog.>=) 0
        AND pg_catalog.num_nonnulls(NEW.cron, NEW.after, NEW.awaits, NEW.on_fail, NEW.notify, NEW.settings, NEW.start, NEW.stop, NEW.pid, NEW.runs, NEW.next, NEW.stopping) OPERATOR(pg_catalog.=) 0
        AND (NEW.catchup OPERATOR(pg_catalog.|) NEW.max_failures OPERATOR(pg_catalog.|) NEW.failures OPERATOR(pg_catalog.|) NEW.attempt OPERATOR(pg_catalog.|) NEW.interrupted) OPERATOR(pg_catalog.=) 0
        AND NOT NEW.overlap
        AND NEW.state OPERATOR(pg_catalog.=) 'PLAN'
        AND NEW.base IS NULL
        AND pg_catalog.octet_length(NEW."group") OPERATOR(pg_catalog.<=) 65536
        AND pg_catalog.octet_length(NEW."null") OPERATOR(pg_catalog.<=) 65536
        AND (NEW.remote IS NULL OR pg_catalog.octet_length(NEW.remote) OPERATOR(pg_catalog.<=) 65536)
        AND (NEW.key IS NULL OR pg_catalog.octet_length(NEW.key) OPERATOR(pg_catalog.<=) 1024) THEN
        RETURN NEW;
    END IF;
    -- An UPDATE that moves a row to another partition is an INSERT there: a mark of ours, where the
    -- table is partitioned by state.
    IF TG_OP OPERATOR(pg_catalog.=) 'INSERT' AND NEW.state OPERATOR(pg_catalog.=) ANY ('{TAKE,WORK}') AND NOT (
        pg_catalog.pg_partition_root(TG_RELID) IS NOT NULL
        AND pg_catalog.left(pg_catalog.current_setting('application_name'), 8) OPERATOR(pg_catalog.=) 'pgtaskd '
        AND pg_catalog.has_table_privilege(pg_catalog.pg_partition_root(TG_RELID)::pg_catalog.oid, 'UPDATE')
    ) THEN
        RAISE EXCEPTION 'a new task can not be in state %', NEW.state USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA,
            COLUMN = 'state', CONSTRAINT = 'pgtaskd_state_check',
            HINT = 'pgtaskd alone says that a task runs. What is restored with pg_dump --data-only needs --disable-triggers.';
    END IF;
    -- By a row that claims to have run, or to be under way, the tasks of others would be held up, or
    -- ended.
    -- Who has UPDATE of these columns, as the serving role, may say so anyway. Who may not INSERT
    -- into them has moved the row to another partition.
    IF TG_OP OPERATOR(pg_catalog.=) 'INSERT'
        AND (NEW.state OPERATOR(pg_catalog.<>) ALL ('{PLAN,STOP}')
            OR pg_catalog.num_nonnulls(NEW.start, NEW.stop, NEW.pid, NEW.runs, NEW.next, NEW.stopping) OPERATOR(pg_catalog.>) 0
            OR (NEW.failures OPERATOR(pg_catalog.|) NEW.attempt OPERATOR(pg_catalog.|) NEW.interrupted) OPERATOR(pg_catalog.<>) 0)
        AND NOT pg_catalog.has_table_privilege(coalesce(pg_catalog.pg_partition_root(TG_RELID)::pg_catalog.oid, TG_RELID), 'UPDATE') THEN
        SELECT s.name INTO wrong
        FROM (VALUES
            ('state', NEW.state OPERATOR(pg_catalog.<>) ALL ('{PLAN,STOP}')), ('start', NEW.start IS NOT NULL), ('stop', NEW.stop IS NOT NULL),
            ('pid', NEW.pid IS NOT NULL), ('runs', NEW.runs IS NOT NULL), ('next', NEW.next IS NOT NULL), ('stopping', NEW.stopping IS NOT NULL),
            ('failures', NEW.failures OPERATOR(pg_catalog.<>) 0), ('attempt', NEW.attempt OPERATOR(pg_catalog.<>) 0), ('interrupted', NEW.interrupted OPERATOR(pg_catalog.<>) 0)
        ) AS s (name, told)
        WHERE s.told
            AND NOT pg_catalog.has_column_privilege(coalesce(pg_catalog.pg_partition_root(TG_RELID)::pg_catalog.oid, TG_RELID), s.name, 'UPDATE')
            AND (pg_catalog.pg_partition_root(TG_RELID) IS NULL OR EXISTS (
                SELECT
                FROM pg_catalog.pg_partition_ancestors(TG_RELID) AS p (relation)
                WHERE pg_catalog.has_column_privilege(p.relation::pg_catalog.oid, s.name, 'INSERT')
            ))
        LIMIT 1;
    END IF;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'only pgtaskd writes start, stop, pid, runs, next, stopping, failures, attempt and interrupted of a new task, and that it has ended'
            USING ERRCODE = 'insufficient_privilege', TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA, COLUMN = wrong, HINT = 'Leave them out.';
    END IF;
    -- What a row has had before is let alone: only a table without this trigger has let it in. OLD
    -- is null at an INSERT.
    wrong := CASE
        WHEN pg_catalog.octet_length(NEW."group") OPERATOR(pg_catalog.>) 65536 AND (OLD."group" OPERATOR(pg_catalog.=) NEW."group") IS NOT TRUE THEN 'group'
        WHEN pg_catalog.octet_length(NEW.remote) OPERATOR(pg_catalog.>) 65536 AND (OLD.remote OPERATOR(pg_catalog.=) NEW.remote) IS NOT TRUE THEN 'remote'
        WHEN pg_catalog.octet_length(NEW."null") OPERATOR(pg_catalog.>) 65536 AND (OLD."null" OPERATOR(pg_catalog.=) NEW."null") IS NOT TRUE THEN 'null'
        WHEN pg_catalog.octet_length(NEW.key) OPERATOR(pg_catalog.>) 1024 AND (OLD.key OPERATOR(pg_catalog.=) NEW.key) IS NOT TRUE THEN 'key'
    END;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'column % is too long', wrong USING ERRCODE = 'check_violation', COLUMN = wrong, TABLE = TG_TABLE_NAME,
            SCHEMA = TG_TABLE_SCHEMA, CONSTRAINT = pg_catalog.concat('pgtaskd_', wrong, '_check'),
            DETAIL = CASE WHEN wrong OPERATOR(pg_catalog.=) 'key' THEN 'It may have 1 kB.' ELSE 'It may have 64 kB.' END;
    END IF;
    wrong := CASE
        WHEN NEW.plan OPERATOR(pg_catalog.<) '2000-01-01 00:00:00+00 BC'
            OR NEW.plan OPERATOR(pg_catalog.>=) '10000-01-01 00:00:00+00' AND NEW.plan OPERATOR(pg_catalog.<) 'infinity' THEN 'plan'
        WHEN NEW.base OPERATOR(pg_catalog.<) '2000-01-01 00:00:00+00 BC' OR NEW.base OPERATOR(pg_catalog.>=) '10000-01-01 00:00:00+00' THEN 'base'
        WHEN NEW.active OPERATOR(pg_catalog.<) '0' OR NEW.active OPERATOR(pg_catalog.>) '1000 years'
            OR pg_catalog.abs(pg_catalog.date_part('year', NEW.active)) OPERATOR(pg_catalog.>) 1000
            OR pg_catalog.abs(pg_catalog.date_part('day', NEW.active)) OPERATOR(pg_catalog.>) 400000 THEN 'active'
        WHEN NEW.live OPERATOR(pg_catalog.<) '0' OR NEW.live OPERATOR(pg_catalog.>) '1000 years'
            OR pg_catalog.abs(pg_catalog.date_part('year', NEW.live)) OPERATOR(pg_catalog.>) 1000
            OR pg_catalog.abs(pg_catalog.date_part('day', NEW.live)) OPERATOR(pg_catalog.>) 400000 THEN 'live'
        WHEN NEW.repeat OPERATOR(pg_catalog.<) '0' OR NEW.repeat OPERATOR(pg_catalog.>) '1000 years'
            OR pg_catalog.date_part('year', NEW.repeat) OPERATOR(pg_catalog.<) 0
            OR pg_catalog.date_part('month', NEW.repeat) OPERATOR(pg_catalog.<) 0
            OR pg_catalog.date_part('day', NEW.repeat) OPERATOR(pg_catalog.<) 0
            OR pg_catalog.date_part('hour', NEW.repeat) OPERATOR(pg_catalog.<) 0
            OR pg_catalog.date_part('minute', NEW.repeat) OPERATOR(pg_catalog.<) 0
            OR pg_catalog.date_part('second', NEW.repeat) OPERATOR(pg_catalog.<) 0 THEN 'repeat'
        WHEN NEW.timeout OPERATOR(pg_catalog.<) '0' OR NEW.timeout OPERATOR(pg_catalog.>) '1000 years'
            OR pg_catalog.abs(pg_catalog.date_part('year', NEW.timeout)) OPERATOR(pg_catalog.>) 1000
            OR pg_catalog.abs(pg_catalog.date_part('day', NEW.timeout)) OPERATOR(pg_catalog.>) 400000 THEN 'timeout'
        WHEN NEW.backoff OPERATOR(pg_catalog.<=) '0' OR NEW.backoff OPERATOR(pg_catalog.>) '1000 years'
            OR pg_catalog.abs(pg_catalog.date_part('year', NEW.backoff)) OPERATOR(pg_catalog.>) 1000
            OR pg_catalog.abs(pg_catalog.date_part('day', NEW.backoff)) OPERATOR(pg_catalog.>) 400000 THEN 'backoff'
        WHEN NEW.count OPERATOR(pg_catalog.<) 0 THEN 'count'
        WHEN NEW.max OPERATOR(pg_catalog.=) -2147483648 THEN 'max' -- a pause is -max milliseconds
        WHEN NEW.retry OPERATOR(pg_catalog.<) 0 THEN 'retry'
        WHEN NEW.catchup OPERATOR(pg_catalog.<) 0 THEN 'catchup'
        WHEN NEW.max_failures OPERATOR(pg_catalog.<) 0 THEN 'max_failures'
        WHEN NEW.notify OPERATOR(pg_catalog.=) '' OR pg_catalog.octet_length(NEW.notify) OPERATOR(pg_catalog.>) 63 THEN 'notify'
    END;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION '% is out of range', wrong USING ERRCODE = 'check_violation', COLUMN = wrong, TABLE = TG_TABLE_NAME,
            SCHEMA = TG_TABLE_SCHEMA, CONSTRAINT = pg_catalog.concat('pgtaskd_', wrong, '_check');
    END IF;
    IF NEW.settings IS NOT NULL AND (OLD.settings OPERATOR(pg_catalog.=) NEW.settings) IS NOT TRUE AND (
        pg_catalog.jsonb_typeof(NEW.settings) OPERATOR(pg_catalog.<>) 'object'
        OR pg_catalog.jsonb_path_exists(NEW.settings, 'strict $.* ? (@.type() != "string" && @.type() != "number" && @.type() != "boolean")')
        OR pg_catalog.octet_length(NEW.settings::pg_catalog.text) OPERATOR(pg_catalog.>) 65536
    ) THEN
        RAISE EXCEPTION 'settings are no object of texts, numbers and booleans' USING ERRCODE = 'check_violation', COLUMN = 'settings', TABLE = TG_TABLE_NAME,
            SCHEMA = TG_TABLE_SCHEMA, CONSTRAINT = 'pgtaskd_settings_check', HINT = 'Such as {"work_mem": "64MB"}; at most 64 kB.';
    END IF;
    IF NEW.overlap AND NEW.key IS NOT NULL AND NEW.retry OPERATOR(pg_catalog.>) 0 THEN
        RAISE EXCEPTION 'a task with overlap and a key can have no retry' USING ERRCODE = 'check_violation', COLUMN = 'overlap', TABLE = TG_TABLE_NAME,
            SCHEMA = TG_TABLE_SCHEMA, CONSTRAINT = 'pgtaskd_overlap_check',
            DETAIL = 'Its repetition waits with the key from its start on, and so it could not wait for another try.';
    END IF;
    IF NEW.cron IS NOT NULL AND NEW.repeat OPERATOR(pg_catalog.>) '0' THEN
        RAISE EXCEPTION 'a task has cron or repeat, not both' USING ERRCODE = 'check_violation', COLUMN = 'cron', TABLE = TG_TABLE_NAME,
            SCHEMA = TG_TABLE_SCHEMA, CONSTRAINT = 'pgtaskd_cron_check';
    END IF;
    -- What is called by a name may have come to be somebody else's: the schema was renamed, or its
    -- owner has dropped what was there, and any function that takes a text would be called instead. A
    -- transaction may see the catalogs as they were long ago, but names mean what they do now. Nothing
    -- waits behind this look. It wants both functions, and one expression calls them: the server may
    -- evaluate what it plans.
    another := (OLD.after OPERATOR(pg_catalog.=) NEW.after) IS NOT TRUE;
    IF NEW.cron IS NOT NULL AND (OLD.cron OPERATOR(pg_catalog.=) NEW.cron) IS NOT TRUE OR NEW.after IS NOT NULL AND another THEN
        :unheld
        IF NOT EXISTS (
            SELECT
            FROM pg_catalog.pg_trigger AS g
            JOIN pg_catalog.pg_proc AS p ON p.oid OPERATOR(pg_catalog.=) g.tgfoid
            JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
            JOIN pg_catalog.pg_type AS y ON y.typnamespace OPERATOR(pg_catalog.=) n.oid AND y.typname OPERATOR(pg_catalog.=) 'pgtaskd_call_:hash'
            WHERE g.tgrelid OPERATOR(pg_catalog.=) TG_RELID AND g.tgname OPERATOR(pg_catalog.=) TG_NAME
                AND n.nspname OPERATOR(pg_catalog.=) :schema_text
                AND y.oid OPERATOR(pg_catalog.=) pg_catalog.to_regtype(pg_catalog.format('%I.%I', :schema_text, y.typname))::pg_catalog.oid
                AND pg_catalog.pg_has_role(y.typowner, p.proowner, :usable) AND NOT :changed_y
                AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint AS k WHERE k.contypid OPERATOR(pg_catalog.=) y.oid) -- which a cast would check
                AND (
                    SELECT pg_catalog.count(*)
                    FROM pg_catalog.pg_proc AS f
                    WHERE f.oid OPERATOR(pg_catalog.=) ANY (ARRAY[
                            pg_catalog.to_regprocedure(pg_catalog.format('%1$I.pgtaskd_cron_:hash(%1$I.%2$I)', :schema_text, y.typname))::pg_catalog.oid,
                            pg_catalog.to_regprocedure(pg_catalog.format('%1$I.pgtaskd_after_:hash(pg_catalog.int8, pg_catalog.int8[], %1$I.%2$I)', :schema_text, y.typname))::pg_catalog.oid
                        ])
                        AND pg_catalog.pg_has_role(f.proowner, p.proowner, :usable) AND NOT :changed_f
                ) OPERATOR(pg_catalog.=) 2
        ) THEN
            RAISE EXCEPTION 'schema %, or a type or function in it, was renamed, changed or dropped, and the functions of its table are not made anew yet', pg_catalog.quote_ident(:schema_text)
                USING ERRCODE = 'object_not_in_prerequisite_state', TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA,
                HINT = 'pgtaskd makes them once it serves the table by the name that it has now; or run the output of pgtaskd schema for that.';
        END IF;
        checked := ARRAY[
            CASE WHEN (OLD.cron OPERATOR(pg_catalog.=) NEW.cron) IS NOT TRUE THEN :schema.pgtaskd_cron_:hash(NEW.cron:::schema.pgtaskd_call_:hash) END,
            CASE WHEN NEW.after IS NOT NULL AND another THEN
                :schema.pgtaskd_after_:hash(CASE WHEN TG_OP OPERATOR(pg_catalog.=) 'INSERT' THEN NEW.id END, NEW.after, coalesce(pg_catalog.pg_partition_root(TG_RELID), TG_RELID)::pg_catalog.oid:::schema.pgtaskd_call_:hash)
            END
        ];
    END IF;
    IF checked[1] IS NOT NULL THEN
        RAISE EXCEPTION '%', checked[1] USING ERRCODE = 'check_violation', COLUMN = 'cron', TABLE = TG_TABLE_NAME,
            SCHEMA = TG_TABLE_SCHEMA, CONSTRAINT = 'pgtaskd_cron_check';
    ELSIF checked[2] IS NOT NULL THEN
        RAISE EXCEPTION '%', checked[2] USING ERRCODE = 'check_violation', COLUMN = 'after', TABLE = TG_TABLE_NAME,
            SCHEMA = TG_TABLE_SCHEMA, CONSTRAINT = 'pgtaskd_after_check';
    END IF;
    IF another THEN
        NEW.met := NULL;
    END IF;
    IF NEW.state OPERATOR(pg_catalog.<>) ALL ('{PLAN,STOP}') OR NEW.stop IS NOT NULL OR NEW.stopping THEN
        IF NEW.after IS NOT NULL THEN
            NEW.freed := coalesce(NEW.freed, '-infinity'); -- it waits for nothing
        END IF;
        RETURN NEW;
    END IF;
    -- The leader looks for what it waits for.
    IF another AND (NEW.after IS NOT NULL OR OLD.after IS NOT NULL OR NEW.awaits IS NOT NULL) THEN
        NEW.awaits := NULL;
        NEW.freed := NULL;
        IF NEW.after IS NOT NULL THEN
            NEW.awaited := '-infinity'; -- which a leader of an earlier version leaves there
        END IF;
    END IF;
    another := TG_OP OPERATOR(pg_catalog.=) 'INSERT' OR (OLD.cron OPERATOR(pg_catalog.=) NEW.cron) IS NOT TRUE;
    -- The leader finds the beats of a cron expression, and plans the task. Where origin is infinite
    -- it has a plan, and the leader only looks whether it can read cron.
    IF NEW.cron IS NOT NULL AND TG_OP OPERATOR(pg_catalog.=) 'INSERT' THEN
        NEW.origin := coalesce(NEW.origin, CASE WHEN NEW.plan OPERATOR(pg_catalog.=) pg_catalog.statement_timestamp() THEN NEW.plan ELSE '-infinity' END);
    ELSIF NEW.cron IS NOT NULL AND another THEN
        NEW.base := NULL;
        NEW.origin := '-infinity';
        IF NEW.plan OPERATOR(pg_catalog.=) OLD.plan THEN
            NEW.plan := pg_catalog.statement_timestamp();
            NEW.origin := NEW.plan;
        END IF;
    ELSIF NEW.cron IS NOT NULL THEN
        IF NEW.plan OPERATOR(pg_catalog.<>) OLD.plan AND NEW.origin OPERATOR(pg_catalog.=) OLD.origin THEN
            NEW.origin := '-infinity';
        END IF;
    ELSIF OLD.cron IS NOT NULL THEN
        NEW.origin := NULL;
    ELSIF NEW.plan OPERATOR(pg_catalog.=) OLD.plan AND NEW.repeat OPERATOR(pg_catalog.<>) OLD.repeat
        AND NEW.repeat OPERATOR(pg_catalog.>) '0' AND OLD.repeat OPERATOR(pg_catalog.>) '0'
        AND OLD.origin IS NOT NULL THEN -- it is a repetition: the new period counts from the beat before
        NEW.origin := coalesce(OLD.base, OLD.plan) OPERATOR(pg_catalog.-) OLD.repeat;
        NEW.base := NULL;
        NEW.plan := coalesce((
            SELECT pg_catalog.min(b.beat)
            FROM pg_catalog.generate_series(-3, 3) AS near
            CROSS JOIN LATERAL (SELECT NEW.origin OPERATOR(pg_catalog.+) (NEW.repeat OPERATOR(pg_catalog.*) greatest(
                1,
                pg_catalog.floor(pg_catalog.date_part('epoch', pg_catalog.statement_timestamp() OPERATOR(pg_catalog.-) NEW.origin)
                    OPERATOR(pg_catalog./) pg_catalog.date_part('epoch', NEW.repeat)) OPERATOR(pg_catalog.+) near
            )) AS beat) AS b
            WHERE b.beat OPERATOR(pg_catalog.>) pg_catalog.statement_timestamp()
        ), pg_catalog.statement_timestamp() OPERATOR(pg_catalog.+) NEW.repeat);
    END IF;
    RETURN NEW;
END
$$;

CREATE OR REPLACE FUNCTION :schema.pgtaskd_wake_:hash() RETURNS pg_catalog.trigger LANGUAGE plpgsql SECURITY INVOKER AS $$
DECLARE
    root pg_catalog.oid := pg_catalog.pg_partition_root(TG_RELID);
    schema pg_catalog.text := TG_TABLE_SCHEMA;
    name pg_catalog.text := TG_TABLE_NAME;
BEGIN
    -- A row's trigger is cloned to each partition and has its name, but the leader listens for
    -- the whole table.
    IF root IS NOT NULL THEN
        SELECT n.nspname, c.relname INTO STRICT schema, name FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
        WHERE c.oid OPERATOR(pg_catalog.=) root;
    END IF;
    -- Of fixed length, because a channel's name of 64 bytes makes the INSERT fail. No change of a row
    -- must fail because the server's queue is full: the leader looks by itself then.
    PERFORM pg_catalog.pg_notify(pg_catalog.concat('pgtaskd_', pg_catalog.left(pg_catalog.encode(pg_catalog.sha256(
        pg_catalog.convert_to(pg_catalog.concat('"', pg_catalog.replace(schema, '"', '""'), '"."',
            pg_catalog.replace(name, '"', '""'), '"'), 'UTF8')), 'hex'), 16)), '')
    WHERE pg_catalog.pg_notification_queue_usage() OPERATOR(pg_catalog.<) 0.9;
    RETURN NULL;
END
$$;

-- STOP on an ended task: the old state is put back, and its repetition is stopped once the statement
-- is over; that of a task with overlap is there while it runs. It cannot be stopped here, since the
-- same statement may be about to update it too (27000).
-- STOP on a task that is under way: the row shows it until the end is written, whoever will write
-- it. A task that only waits is paused.
-- PLAN on an ended task, or on one that was stopped while it ran and whose end nobody has written:
-- it waits again, as if new, and runs keeps what was.
-- TAKE and WORK on a task that is not under way: refused, but for a control session's WORK, which
-- its name tells.
-- Statistics may say that the table is empty: so the plans of either are what suits the indexes.
-- All but the first wake the leader, as pgtaskd_wake does. A trigger of its own for that would make
-- the server read and plan one more condition for each end of a task.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_state_:hash() RETURNS pg_catalog.trigger LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    root pg_catalog.oid := coalesce(pg_catalog.pg_partition_root(TG_RELID), TG_RELID);
BEGIN
    IF NEW.state OPERATOR(pg_catalog.=) ANY ('{TAKE,WORK}') THEN
        RAISE EXCEPTION 'task % can not be set to %', NEW.id, NEW.state USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA,
            COLUMN = 'state', HINT = 'pgtaskd alone says that a task runs. Set it to PLAN, and it runs when it is due.';
    END IF;
    IF NEW.state OPERATOR(pg_catalog.<>) ALL ('{STOP,PLAN}') THEN
        RETURN NEW;
    END IF;
    IF NEW.state OPERATOR(pg_catalog.=) 'STOP' AND OLD.state OPERATOR(pg_catalog.=) ANY ('{DONE,FAIL,GONE}') THEN
        NEW.state := OLD.state;
        IF OLD.next IS NOT NULL THEN
            NEW.stopping := CASE WHEN OLD.stopping IS NULL THEN false END; -- by this change pgtaskd_stop_next knows it
        END IF;
        RETURN NEW;
    END IF;
    IF NEW.state OPERATOR(pg_catalog.=) 'STOP' AND OLD.state OPERATOR(pg_catalog.=) ANY ('{TAKE,WORK}') THEN
        NEW.stopping := true;
    END IF;
    IF NEW.state OPERATOR(pg_catalog.=) 'PLAN' THEN
        NEW.stopping := NULL;
        IF OLD.state OPERATOR(pg_catalog.=) 'STOP' AND OLD.stop IS NULL AND NEW.cron IS NOT NULL
            AND NEW.origin OPERATOR(pg_catalog.>) '-infinity' THEN -- its beats count from now
            NEW.plan := pg_catalog.statement_timestamp();
        END IF;
        IF OLD.state OPERATOR(pg_catalog.=) 'STOP' AND NEW.max_failures OPERATOR(pg_catalog.>) 0
            AND NEW.failures OPERATOR(pg_catalog.>=) NEW.max_failures THEN
            NEW.failures := 0;
            NEW.error := NULL;
        END IF;
        IF NEW.stop OPERATOR(pg_catalog.=) OLD.stop
            OR OLD.state OPERATOR(pg_catalog.=) 'STOP' AND OLD.stop IS NULL AND NEW.start OPERATOR(pg_catalog.=) OLD.start THEN
            NEW.start := NULL;
            NEW.stop := NULL;
            NEW.attempt := 0;
            NEW.interrupted := 0;
            NEW.base := NULL;
            NEW.awaits := NULL; -- it runs after the same tasks again
            NEW.freed := NULL;
            IF NEW.plan OPERATOR(pg_catalog.=) OLD.plan AND NEW.plan OPERATOR(pg_catalog.<) pg_catalog.statement_timestamp() THEN
                NEW.plan := pg_catalog.statement_timestamp();
            END IF;
            NEW.runs := CASE
                    WHEN pg_catalog.jsonb_typeof(OLD.runs) OPERATOR(pg_catalog.<>) 'array' THEN '[]'
                    WHEN pg_catalog.jsonb_array_length(OLD.runs) OPERATOR(pg_catalog.>=) 20 THEN OLD.runs OPERATOR(pg_catalog.-) 0
                    ELSE coalesce(OLD.runs, '[]')
                END
                OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_object('start', OLD.start, 'stop', coalesce(OLD.stop, pg_catalog.statement_timestamp()), 'pid', OLD.pid,
                    'state', OLD.state, 'error', pg_catalog.left(OLD.error, 1000), 'cause', CASE WHEN OLD.stop IS NULL THEN 'stopped' ELSE 'run again' END);
        END IF;
    END IF;
    PERFORM pg_catalog.pg_notify(pg_catalog.concat('pgtaskd_', pg_catalog.left(pg_catalog.encode(pg_catalog.sha256(
        pg_catalog.convert_to(pg_catalog.concat('"', pg_catalog.replace(n.nspname, '"', '""'), '"."',
            pg_catalog.replace(c.relname, '"', '""'), '"'), 'UTF8')), 'hex'), 16)), '')
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    WHERE c.oid OPERATOR(pg_catalog.=) root
        AND pg_catalog.pg_notification_queue_usage() OPERATOR(pg_catalog.<) 0.9;
    RETURN NEW;
END
$$;

CREATE OR REPLACE FUNCTION :schema.pgtaskd_stop_next_:hash() RETURNS pg_catalog.trigger LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    root pg_catalog.text := coalesce(pg_catalog.pg_partition_root(TG_RELID), TG_RELID)::pg_catalog.regclass;
    follows pg_catalog.bool;
    waits pg_catalog.int8;
BEGIN
    IF OLD.state OPERATOR(pg_catalog.=) ANY ('{DONE,FAIL,GONE}') THEN
        IF NEW.state OPERATOR(pg_catalog.<>) OLD.state OR (NEW.stopping IS NULL) OPERATOR(pg_catalog.=) (OLD.stopping IS NULL) THEN
            RETURN NULL; -- nobody has set it to STOP
        END IF;
    ELSIF NOT (OLD.overlap AND NEW.state OPERATOR(pg_catalog.=) 'STOP') THEN
        RETURN NULL;
    END IF;
    -- One that has ended since the statement began is new to it as well, and may have a repetition
    -- of its own.
    EXECUTE pg_catalog.format('SELECT EXISTS (SELECT FROM %s AS t WHERE t.id OPERATOR(pg_catalog.=) $1
        AND (t.state OPERATOR(pg_catalog.=) ANY (''{PLAN,TAKE,WORK}'') OR t.stop OPERATOR(pg_catalog.>) pg_catalog.statement_timestamp()))', root)
        INTO follows USING OLD.next;
    IF NOT follows OR pg_catalog.pg_trigger_depth() OPERATOR(pg_catalog.>=) 20 THEN
        RETURN NULL; -- if it is so deep, next leads in a circle
    END IF;
    EXECUTE pg_catalog.format('WITH RECURSIVE chain AS (
            SELECT t.id, t.state, t.next FROM %1$s AS t WHERE t.id OPERATOR(pg_catalog.=) $1
            UNION -- not ALL: next is anybody''s to write, and may lead in a circle
            SELECT t.id, t.state, t.next FROM chain AS c JOIN %1$s AS t ON t.id OPERATOR(pg_catalog.=) c.next
            WHERE c.state OPERATOR(pg_catalog.<>) ALL (''{PLAN,TAKE,WORK}'')
        )
        SELECT c.id FROM chain AS c WHERE c.state OPERATOR(pg_catalog.=) ANY (''{PLAN,TAKE,WORK}'')', root)
        INTO waits USING OLD.next;
    EXECUTE pg_catalog.format('UPDATE %s AS t SET state = ''STOP'' WHERE t.id OPERATOR(pg_catalog.=) $1', root)
        USING coalesce(waits, OLD.next);
    RETURN NULL;
END
$$;

-- The session of a run is known by its pid and by when it began: a pid comes back, and that of a
-- remote may be another server's. It may run another task already, while the end of this one is
-- still to be written. That is due or shows the session's pid, and pg_task.id names it; the SQL may
-- reset that, or set it to anything.
-- An end that we write in the session of its run comes from done.sql, which begins as no other
-- statement does. What the task has put off until COMMIT finds it written: its stop is then not
-- before the transaction's start, as that of every earlier run in the session is. So neither may it
-- let itself run again then, nor change what tells that it is this one.

CREATE OR REPLACE FUNCTION :schema.pgtaskd_own_:hash() RETURNS pg_catalog.trigger LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    root pg_catalog.oid := coalesce(pg_catalog.pg_partition_root(TG_RELID), TG_RELID);
    running pg_catalog.text := coalesce(pg_catalog.current_setting('pg_task.id', true), '');
    another pg_catalog.bool := false;
BEGIN
    IF OLD.state OPERATOR(pg_catalog.<>) 'WORK' AND (
        (OLD.stop OPERATOR(pg_catalog.>=) pg_catalog.transaction_timestamp()) IS NOT TRUE
        OR NEW.state OPERATOR(pg_catalog.<>) ALL ('{PLAN,TAKE,WORK}')
        AND ROW(NEW.start, NEW.stop, NEW.pid, NEW.remote)::pg_catalog.record OPERATOR(pg_catalog.*=) ROW(OLD.start, OLD.stop, OLD.pid, OLD.remote)::pg_catalog.record
    ) THEN
        RETURN NULL;
    END IF;
    IF pg_catalog.left(pg_catalog.current_query(), 17) OPERATOR(pg_catalog.=) 'WITH pgtaskd_end '
        OR (OLD.start OPERATOR(pg_catalog.>=) (SELECT a.backend_start FROM pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid()) AS a)) IS NOT TRUE
        OR running OPERATOR(pg_catalog.=) '' AND OLD.remote IS NOT NULL THEN
        RETURN NULL;
    END IF;
    IF OLD.state OPERATOR(pg_catalog.=) 'WORK' AND running OPERATOR(pg_catalog.~) '^[0-9]{1,18}$' THEN
        EXECUTE pg_catalog.format('SELECT EXISTS (SELECT FROM %s AS t WHERE t.id OPERATOR(pg_catalog.=) $1 AND t.id OPERATOR(pg_catalog.<>) $2 AND t.id OPERATOR(pg_catalog.<>) $3
            AND (t.state OPERATOR(pg_catalog.=) ''PLAN'' AND t.plan OPERATOR(pg_catalog.<) (pg_catalog.clock_timestamp() OPERATOR(pg_catalog.+) ''1 s'')
            OR t.state OPERATOR(pg_catalog.=) ''WORK'' AND t.pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid()))', root::pg_catalog.regclass)
            INTO another USING running::pg_catalog.int8, OLD.id, NEW.id;
    END IF;
    IF NOT another THEN
        RAISE EXCEPTION 'task was changed while it ran' USING ERRCODE = 'object_not_in_prerequisite_state', TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA,
            DETAIL = 'Its own SQL has changed its row.', HINT = 'Write what the task has to say into another table, or return it as output.';
    END IF;
    RETURN NULL;
END
$$;
