-- Why a task waits, in a line for a person. It reads what whoever asks may read, looks at the locks
-- before it waits for one itself, and visits a bounded part of the table, by its indexes.
DO $body$
DECLARE
    functions pg_catalog.text[] := ARRAY[pg_catalog.concat(:its_why_text, '(pg_catalog.int8)')];
    called pg_catalog.text;
BEGIN
    :make_way
END
$body$;
CREATE OR REPLACE FUNCTION :its_why(id pg_catalog.int8, OUT reason :schema.pgtaskd_call_:hash) LANGUAGE plpgsql VOLATILE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off
SET DateStyle = 'ISO' SET IntervalStyle = 'postgres' AS $body$
#variable_conflict use_variable
DECLARE
    here ALIAS FOR reason;
    most pg_catalog.int4 := 5; -- ids that are named
    moment pg_catalog.timestamptz := pg_catalog.clock_timestamp();
    current pg_catalog.oid := (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database());
    relation pg_catalog.oid := pg_catalog.to_regclass(:table_text)::pg_catalog.oid;
    task pg_catalog.record;
    led pg_catalog.record;
    runs pg_catalog.record;
    other pg_catalog.record;
    leader pg_catalog.int4;
    called pg_catalog.text;
    failure pg_catalog.text;
    wait pg_catalog.interval;
    rest pg_catalog.text;
    pids pg_catalog.int4[];
    lockers pg_catalog.xid[];
    locked pg_catalog.text; -- null: nobody has locked the row
    limited pg_catalog.bool; -- null: by nothing of the owner's
    ended pg_catalog.timestamptz; -- the last pause of its group
    why pg_catalog.text[] := '{}';
BEGIN
    -- The result is of a type that may have got a constraint of somebody's, as :stands knows it.
    IF EXISTS (SELECT FROM pg_catalog.pg_constraint AS k WHERE k.contypid OPERATOR(pg_catalog.=) pg_catalog.pg_typeof(here)::pg_catalog.oid) THEN
        RAISE EXCEPTION 'type % has a constraint, which is none of pgtaskd''s', pg_catalog.pg_typeof(here) USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'ALTER DOMAIN … DROP CONSTRAINT.';
    END IF;
    -- A lock on the table that keeps even readers out, or will as soon as it is had.
    SELECT l.pid, l.granted, a.usename, a.application_name INTO other
    FROM pg_catalog.pg_locks AS l
    LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid OPERATOR(pg_catalog.=) l.pid
    WHERE l.locktype OPERATOR(pg_catalog.=) 'relation' AND l.database OPERATOR(pg_catalog.=) current AND l.relation OPERATOR(pg_catalog.=) relation
        AND l.mode OPERATOR(pg_catalog.=) 'AccessExclusiveLock' AND l.pid OPERATOR(pg_catalog.<>) pg_catalog.pg_backend_pid()
    ORDER BY l.granted DESC
    LIMIT 1;
    IF other.granted THEN
        reason := pg_catalog.concat('waits for the table, which pid ', other.pid, ' of role ', pg_catalog.quote_ident(other.usename), ' (', pg_catalog.format('%L', other.application_name), ') has locked');
        RETURN;
    ELSIF other.pid IS NOT NULL THEN
        reason := pg_catalog.concat('waits for the table, which pid ', other.pid, ' of role ', pg_catalog.quote_ident(other.usename), ' (', pg_catalog.format('%L', other.application_name), ') is about to lock, and waits for pid ',
            coalesce(pg_catalog.array_to_string(pg_catalog.pg_blocking_pids(other.pid), ', '), 'none'));
        RETURN;
    END IF;
    :stands
    SELECT t.state::pg_catalog.text AS state, t.plan, greatest(coalesce(t.base, t.plan), t.freed) AS base, t.base IS NOT NULL AS moved, t.active, t.start, t.stop, t.max, t."group" AS lane, t.remote,
        t.attempt, t.interrupted, t.retry, t.error, t.pid, t.cron, t.origin, t.stopping, t.catchup, t.drift, t.xmax AS locker, t.sqlstate,
        t.after, t.awaits, t.freed,
        t.runs OPERATOR(pg_catalog.->) (-1) AS last
    INTO task FROM :table AS t WHERE t.id OPERATOR(pg_catalog.=) $1;
    IF NOT FOUND THEN
        reason := pg_catalog.concat('there is no task ', coalesce($1::pg_catalog.text, 'NULL'), ': it was never inserted, or has been deleted, as one is that ends without output and error, unless its column delete is false');
        RETURN;
    END IF;
    failure := pg_catalog.left(pg_catalog.split_part(task.error, E'\n', 1), 200);
    -- Who has locked the row, by its own transaction or one of several.
    IF task.locker OPERATOR(pg_catalog.<>) '0'::pg_catalog.xid THEN
        BEGIN
            lockers := ARRAY(SELECT m.xid FROM pg_catalog.pg_get_multixact_members(task.locker) AS m WHERE m.mode OPERATOR(pg_catalog.<>) 'keysh');
        EXCEPTION
            WHEN others THEN NULL; -- it is none
        END;
        SELECT pg_catalog.concat(CASE WHEN l.pid IS NULL THEN pg_catalog.concat('prepared transaction ', pg_catalog.quote_ident(x.gid), ' of role ', pg_catalog.quote_ident(x.owner))
            ELSE pg_catalog.concat('pid ', l.pid, ' of role ', pg_catalog.quote_ident(a.usename), ' (', pg_catalog.format('%L', a.application_name), ')') END, ', which has locked the row') INTO locked
        FROM pg_catalog.pg_locks AS l
        LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid OPERATOR(pg_catalog.=) l.pid
        LEFT JOIN pg_catalog.pg_prepared_xacts AS x ON x.transaction OPERATOR(pg_catalog.=) l.transactionid
        WHERE l.locktype OPERATOR(pg_catalog.=) 'transactionid' AND l.granted
            AND (l.transactionid OPERATOR(pg_catalog.=) task.locker OR l.transactionid OPERATOR(pg_catalog.=) ANY (lockers))
            AND coalesce(l.pid, 0) OPERATOR(pg_catalog.<>) ALL (ARRAY[pg_catalog.pg_backend_pid(), coalesce(task.pid, -1)])
        LIMIT 1;
    END IF;
    -- What has ended, or runs.
    IF task.state OPERATOR(pg_catalog.=) 'DONE' THEN
        reason := pg_catalog.concat('ended well at ', task.stop::pg_catalog.timestamptz(0), '; set its state to PLAN to run it again');
        RETURN;
    ELSIF task.state OPERATOR(pg_catalog.=) 'FAIL' THEN
        reason := pg_catalog.concat('failed at ', task.stop::pg_catalog.timestamptz(0), ': ', failure, '; set its state to PLAN to run it again');
        RETURN;
    ELSIF task.state OPERATOR(pg_catalog.=) 'GONE' THEN
        reason := pg_catalog.concat('was given up at ', task.stop::pg_catalog.timestamptz(0), ': ', failure, '; set its state to PLAN to run it all the same');
        RETURN;
    ELSIF task.state OPERATOR(pg_catalog.=) 'STOP' AND task.stopping THEN
        reason := pg_catalog.concat('was set to STOP while it ran, in backend ', task.pid, '; its end is not written yet',
            ': that waits for ' OPERATOR(pg_catalog.||) locked);
        RETURN;
    ELSIF task.state OPERATOR(pg_catalog.=) 'STOP' AND task.stop IS NOT NULL THEN
        reason := pg_catalog.concat('was stopped at ', task.stop::pg_catalog.timestamptz(0), '; set its state to PLAN to run it again');
        RETURN;
    ELSIF task.state OPERATOR(pg_catalog.=) 'STOP' THEN
        reason := pg_catalog.concat('is paused', ' (' OPERATOR(pg_catalog.||) failure OPERATOR(pg_catalog.||) ')', '; set its state to PLAN, and it runs when its plan, ',
            task.plan::pg_catalog.timestamptz(0), ', has come');
        RETURN;
    ELSIF task.state OPERATOR(pg_catalog.<>) 'PLAN' THEN
        called := pg_catalog.array_to_string(CASE WHEN task.remote IS NULL THEN pg_catalog.pg_blocking_pids(task.pid) END, ', ');
        reason := pg_catalog.concat('runs since ', task.start::pg_catalog.timestamptz(0), ', for ', pg_catalog.date_trunc('second', moment OPERATOR(pg_catalog.-) task.start), ', in backend ', task.pid,
            CASE
                WHEN task.remote IS NOT NULL THEN ' of its remote'
                WHEN called OPERATOR(pg_catalog.<>) '' THEN pg_catalog.concat(', which waits for a lock of pid ', called)
                WHEN NOT EXISTS (SELECT FROM pg_catalog.pg_stat_get_activity(task.pid) AS a WHERE a.pid OPERATOR(pg_catalog.=) task.pid)
                    THEN ', which is gone; the leader will see that and write its end'
            END, '; its end waits for ' OPERATOR(pg_catalog.||) locked);
        RETURN;
    END IF;
    -- Who leads: whoever may not read the table of controllers, or has none, knows it from the
    -- lock.
    SELECT l.pid INTO leader
    FROM pg_catalog.pg_locks AS l
    WHERE l.locktype OPERATOR(pg_catalog.=) 'advisory' AND l.database OPERATOR(pg_catalog.=) current AND l.granted AND l.objsubid OPERATOR(pg_catalog.=) 2
        AND l.mode OPERATOR(pg_catalog.=) 'ExclusiveLock' AND l.classid::pg_catalog.int8 OPERATOR(pg_catalog.=) :lead_class
        AND l.objid::pg_catalog.int8 OPERATOR(pg_catalog.>=) :lead_first AND l.objid::pg_catalog.int8 OPERATOR(pg_catalog.<=) :lead_last
    LIMIT 1;
    SELECT NULL::pg_catalog.bool AS leads, NULL::pg_catalog.timestamptz AS since, NULL::pg_catalog.timestamptz AS seen, NULL::pg_catalog.int4 AS run INTO led;
    IF
        :leaders
    THEN
        BEGIN
            EXECUTE pg_catalog.format('SELECT l.leads, l.since, l.seen, l.run FROM %s AS l ORDER BY l.leads DESC, l.seen DESC LIMIT 1', :its_leader_text) INTO led;
        EXCEPTION
            WHEN undefined_table OR undefined_column OR insufficient_privilege OR wrong_object_type OR lock_not_available THEN NULL;
        END;
    END IF;
    IF leader IS NULL THEN
        why := pg_catalog.array_append(why, pg_catalog.concat('no controller leads the table: start pgtaskd, or look at its log',
            ' (the last one was seen at ' OPERATOR(pg_catalog.||) led.seen::pg_catalog.timestamptz(0)::pg_catalog.text OPERATOR(pg_catalog.||) ')'));
    END IF;
    -- What is planned for later.
    wait := CASE WHEN pg_catalog.isfinite(task.plan) AND task.plan OPERATOR(pg_catalog.>) moment THEN pg_catalog.date_trunc('second', (task.plan OPERATOR(pg_catalog.-) moment) OPERATOR(pg_catalog.+) '999 ms'::pg_catalog.interval) END;
    rest := pg_catalog.concat(task.plan::pg_catalog.timestamptz(0), ', in ', wait);
    IF task.cron IS NOT NULL AND task.origin IS NOT NULL THEN
        why := pg_catalog.array_prepend(pg_catalog.concat('waits for the leader to plan its first run from cron ', pg_catalog.left(task.cron, 200)), why);
    ELSIF task.plan OPERATOR(pg_catalog.=) 'infinity' THEN
        why := pg_catalog.array_prepend('waits until somebody sets its plan, which is infinity'::pg_catalog.text, why);
    ELSIF wait IS NOT NULL AND (task.last OPERATOR(pg_catalog.->>) 'cause') OPERATOR(pg_catalog.=) 'retry' AND task.pid IS NOT NULL THEN
        why := pg_catalog.array_prepend(pg_catalog.concat('waits for its next try, at ', rest, ': ', task.attempt::pg_catalog.int8 OPERATOR(pg_catalog.-) task.interrupted, ' of ',
            task.retry::pg_catalog.int8 OPERATOR(pg_catalog.+) 1, ' tries failed, the last one with ', failure), why);
    ELSIF wait IS NOT NULL AND task.moved AND failure IS NOT NULL AND task.pid IS NULL THEN
        why := pg_catalog.array_prepend(pg_catalog.concat('waits for a session, which could not be had: ', failure, '; the next try is at ', rest), why);
    ELSIF wait IS NOT NULL AND task.interrupted OPERATOR(pg_catalog.>) 0 AND task.moved THEN
        why := pg_catalog.array_prepend(pg_catalog.concat('waits for its next try, at ', rest, ': ', task.interrupted, ' of its runs were cut off'), why);
    ELSIF wait IS NOT NULL THEN
        why := pg_catalog.array_prepend(pg_catalog.concat('waits for its plan, ', rest), why);
    END IF;
    -- What it is to run after.
    IF task.after IS NOT NULL AND (task.freed IS NULL OR task.awaits IS NOT NULL) THEN
        :stands
        SELECT pg_catalog.count(*) AS total, (pg_catalog.array_agg(pg_catalog.concat(a.id, ' (', p.shown, ')')))[1:most] AS shown INTO other
        FROM pg_catalog.unnest(task.after) AS a (id)
        CROSS JOIN LATERAL (
            SELECT CASE WHEN t.state OPERATOR(pg_catalog.=) 'STOP' AND t.stop IS NULL AND t.stopping IS NULL THEN 'paused' ELSE t.state::pg_catalog.text END AS shown
            FROM :table AS t
            WHERE t.id OPERATOR(pg_catalog.=) a.id AND t.state OPERATOR(pg_catalog.<>) 'DONE'
        ) AS p;
        why := pg_catalog.array_prepend(CASE WHEN other.total OPERATOR(pg_catalog.=) 0 THEN 'waits for the leader to see that all tasks in after have ended'
            ELSE pg_catalog.concat('waits for task ', pg_catalog.array_to_string(other.shown, ', '),
                ' and ' OPERATOR(pg_catalog.||) CASE WHEN other.total OPERATOR(pg_catalog.>) most THEN (other.total OPERATOR(pg_catalog.-) most)::pg_catalog.text END OPERATOR(pg_catalog.||) ' more',
                ', which it is to run after') END, why);
    END IF;
    IF pg_catalog.cardinality(why) OPERATOR(pg_catalog.>) 0 THEN
        reason := pg_catalog.array_to_string(why, '; ');
        RETURN;
    END IF;
    -- The limits of its group, where the table of groups is the owner's and may be read.
    SELECT pg_catalog.has_table_privilege(g.oid, 'SELECT') INTO limited
    FROM pg_catalog.pg_class AS g
    JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) relation AND c.relowner OPERATOR(pg_catalog.=) g.relowner
    WHERE g.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(:its_group_text)::pg_catalog.oid AND g.relkind OPERATOR(pg_catalog.=) 'r' AND NOT :changed_g;
    IF limited THEN
        FOR other IN EXECUTE pg_catalog.format('SELECT g."group" AS name, g.until, g.paused AND coalesce(g.until OPERATOR(pg_catalog.>) $2, true) AS paused FROM %s AS g
            WHERE g."group" OPERATOR(pg_catalog.=) $1 OR pg_catalog.right(g."group", 1) OPERATOR(pg_catalog.=) ''%%'' AND pg_catalog.starts_with($1, pg_catalog.left(g."group", -1))
            ORDER BY 1', :its_group_text) USING task.lane, moment LOOP
            IF other.paused THEN
                why := pg_catalog.array_append(why, pg_catalog.concat('waits for the pause of row ', pg_catalog.quote_ident(pg_catalog.left(other.name, 100)), ' of ', :its_group_text,
                    ', which ends ', CASE WHEN other.until OPERATOR(pg_catalog.<) 'infinity' THEN pg_catalog.concat('at ', other.until::pg_catalog.timestamptz(0)) ELSE 'when somebody sets paused to false' END));
            ELSIF other.until OPERATOR(pg_catalog.<=) moment THEN
                ended := greatest(ended, other.until);
            END IF;
        END LOOP;
        IF pg_catalog.cardinality(why) OPERATOR(pg_catalog.>) 0 THEN
            reason := pg_catalog.array_to_string(why, '; ');
            RETURN;
        END IF;
    END IF;
    IF task.attempt OPERATOR(pg_catalog.=) 0 AND task.max OPERATOR(pg_catalog.>=) 0 AND task.catchup OPERATOR(pg_catalog.=) 0 AND task.active OPERATOR(pg_catalog.>) '0'
        AND (greatest(task.base, ended) OPERATOR(pg_catalog.+) least(task.active, '10000 years'::pg_catalog.interval)) OPERATOR(pg_catalog.<) moment THEN
        reason := pg_catalog.concat('is not worth running any more since ', (greatest(task.base, ended) OPERATOR(pg_catalog.+) least(task.active, '10000 years'::pg_catalog.interval))::pg_catalog.timestamptz(0),
            ' (its plan, or the end of the tasks in after, + active): the leader sets it to GONE');
        RETURN;
    END IF;
    -- Somebody's lock on the row; or on the table, against writers.
    IF locked IS NULL THEN
        SELECT pg_catalog.concat('pid ', l.pid, ' of role ', pg_catalog.quote_ident(a.usename), ' (', pg_catalog.format('%L', a.application_name), '), which has locked the table against changes') INTO locked
        FROM pg_catalog.pg_locks AS l
        LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid OPERATOR(pg_catalog.=) l.pid
        WHERE l.locktype OPERATOR(pg_catalog.=) 'relation' AND l.database OPERATOR(pg_catalog.=) current AND l.relation OPERATOR(pg_catalog.=) relation
            AND l.mode OPERATOR(pg_catalog.=) ANY ('{ShareLock,ShareRowExclusiveLock,ExclusiveLock}') AND l.pid OPERATOR(pg_catalog.<>) pg_catalog.pg_backend_pid()
        ORDER BY l.granted DESC
        LIMIT 1;
    END IF;
    IF locked IS NOT NULL THEN
        why := pg_catalog.array_append(why, pg_catalog.concat('waits for ', locked));
    END IF;
    -- What runs: by the rows among those that are due first, and by the sessions' names, which also
    -- tell of runs that no row shows yet.
    called := pg_catalog.concat('pg_task ', :schema_text, ' ', :name_text, ' ', task.lane);
    rest := pg_catalog.regexp_replace(called, '[^ -~]', '?', 'g');
    IF rest OPERATOR(pg_catalog.<>) called OR pg_catalog.octet_length(called) OPERATOR(pg_catalog.>) 63 THEN
        called := pg_catalog.concat(pg_catalog.left(rest, 54), '~', pg_catalog.left(pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(called, 'UTF8')), 'hex'), 8));
    END IF;
    SELECT ARRAY(
        SELECT a.pid
        FROM pg_catalog.pg_stat_activity AS a
        WHERE a.datid OPERATOR(pg_catalog.=) current AND a.state OPERATOR(pg_catalog.=) 'active' AND a.backend_type OPERATOR(pg_catalog.=) 'client backend'
            AND a.application_name OPERATOR(pg_catalog.=) called AND a.pid OPERATOR(pg_catalog.<>) pg_catalog.pg_backend_pid()
    ) AS pids INTO other;
    pids := other.pids;
    :stands
    WITH head AS MATERIALIZED (
        SELECT t.id, t.state, t."group", t.remote
        FROM :table AS t
        WHERE t.due IS NOT NULL AND t.due OPERATOR(pg_catalog.<=) moment
        ORDER BY t.due, t.id
        LIMIT 5000
    ), work AS MATERIALIZED (
        SELECT h.id, h."group" OPERATOR(pg_catalog.=) task.lane AS grouped, h."group" OPERATOR(pg_catalog.=) task.lane AND coalesce(h.remote OPERATOR(pg_catalog.=) task.remote, h.remote IS NULL AND task.remote IS NULL) AS beside
        FROM (
            SELECT r.id, r."group", r.remote
            FROM head AS r
            WHERE r.state OPERATOR(pg_catalog.=) ANY ('{TAKE,WORK}')
            UNION ALL
            SELECT t.id, t."group", t.remote -- set to STOP while it ran, and its end is not written yet
            FROM :table AS t
            WHERE t.due IS NULL AND t.stopping AND t.state OPERATOR(pg_catalog.=) 'STOP' AND t.stop IS NULL
        ) AS h
    )
    SELECT pg_catalog.count(*) AS total, pg_catalog.count(CASE WHEN w.beside THEN 1 END) AS beside, pg_catalog.count(CASE WHEN w.grouped THEN 1 END) AS grouped,
        ARRAY(SELECT x.id FROM work AS x WHERE x.beside LIMIT most) AS ids
    INTO runs FROM work AS w;
    IF task.max OPERATOR(pg_catalog.<) 0 AND runs.beside OPERATOR(pg_catalog.=) 0 THEN
        :stands
        SELECT t.id, t.stop, t.plan INTO other
        FROM (
            SELECT t.id, t.stop, t.plan, t."group", t.remote
            FROM :table AS t
            WHERE t.id OPERATOR(pg_catalog.<) $1
            ORDER BY t.id DESC
            LIMIT 2000
        ) AS t
        WHERE t."group" OPERATOR(pg_catalog.=) task.lane AND coalesce(t.remote OPERATOR(pg_catalog.=) task.remote, t.remote IS NULL AND task.remote IS NULL) AND t.stop IS NOT NULL
        ORDER BY t.stop DESC
        LIMIT 1;
        wait := pg_catalog.make_interval(0, 0, 0, 0, 0, 0, task.max OPERATOR(pg_catalog./) (-1000)::pg_catalog.float8);
        IF ((other.stop OPERATOR(pg_catalog.+) wait) OPERATOR(pg_catalog.>=) moment) IS NOT FALSE OR (led.since OPERATOR(pg_catalog.+) wait) OPERATOR(pg_catalog.>=) moment THEN
            why := pg_catalog.array_append(why, pg_catalog.concat('waits for the pause of its lane: max is ', task.max, ', so it starts ', wait, ' after the end of the task before it',
                ', task ' OPERATOR(pg_catalog.||) other.id::pg_catalog.text OPERATOR(pg_catalog.||) ', at ' OPERATOR(pg_catalog.||) other.stop::pg_catalog.timestamptz(0)::pg_catalog.text));
        END IF;
    ELSIF runs.beside OPERATOR(pg_catalog.>) greatest(task.max, 0) THEN
        why := pg_catalog.array_append(why, pg_catalog.concat('waits for its lane, group ', pg_catalog.quote_ident(pg_catalog.left(task.lane, 100)), ', in which ', runs.beside, ' run (task ',
            pg_catalog.array_to_string(runs.ids, ', '), ' and ' OPERATOR(pg_catalog.||) CASE WHEN runs.beside OPERATOR(pg_catalog.>) most THEN (runs.beside OPERATOR(pg_catalog.-) most)::pg_catalog.text END OPERATOR(pg_catalog.||) ' more',
            '): max ', task.max, ' lets it start while at most ', greatest(task.max, 0), ' run'));
    END IF;
    IF runs.beside OPERATOR(pg_catalog.<=) greatest(task.max, 0) AND pg_catalog.cardinality(pids) OPERATOR(pg_catalog.>) greatest(task.max, 0) THEN
        why := pg_catalog.array_append(why, pg_catalog.concat('waits for its lane, group ', pg_catalog.quote_ident(pg_catalog.left(task.lane, 100)), ', in which tasks run in the backends ',
            pg_catalog.array_to_string(pids, ', '), ': max ', task.max, ' lets it start while at most ', greatest(task.max, 0), ' run'));
    END IF;
    IF runs.total OPERATOR(pg_catalog.>=) led.run THEN
        why := pg_catalog.array_append(why, pg_catalog.concat('waits for run: the target runs ', runs.total, ' tasks, and its run is ', led.run));
    END IF;
    IF failure IS NOT NULL AND task.moved AND task.pid IS NULL THEN
        why := pg_catalog.array_append(why, pg_catalog.concat('waits for a session, which could not be had: ', failure));
    END IF;
    -- What runs is seen, what has started is not, as its row may be gone: a rate is the reason
    -- where there is no other.
    IF limited THEN
        FOR other IN EXECUTE pg_catalog.format('SELECT g."group" AS name, g.slots, g.rate, g.per FROM %s AS g
            WHERE (g.slots OPERATOR(pg_catalog.<=) $2 OR $3 AND g.rate IS NOT NULL)
                AND (g."group" OPERATOR(pg_catalog.=) $1 OR pg_catalog.right(g."group", 1) OPERATOR(pg_catalog.=) ''%%'' AND pg_catalog.starts_with($1, pg_catalog.left(g."group", -1)))
            ORDER BY g.slots, 1', :its_group_text)
            USING task.lane, greatest(runs.grouped, pg_catalog.cardinality(pids)), pg_catalog.cardinality(why) OPERATOR(pg_catalog.=) 0 LOOP
            why := pg_catalog.array_append(why, pg_catalog.concat('waits for ', CASE
                WHEN other.slots OPERATOR(pg_catalog.<=) greatest(runs.grouped, pg_catalog.cardinality(pids))
                    THEN pg_catalog.concat('slots, of which ', greatest(runs.grouped, pg_catalog.cardinality(pids)), ' are taken of ', other.slots)
                ELSE pg_catalog.concat('rate, which lets ', other.rate, ' start per ', other.per)
            END, ', of row ', pg_catalog.quote_ident(pg_catalog.left(other.name, 100)), ' of ', :its_group_text));
        END LOOP;
    END IF;
    IF pg_catalog.cardinality(why) OPERATOR(pg_catalog.=) 0 THEN
        reason := pg_catalog.concat('is due since ', greatest(task.plan, task.freed)::pg_catalog.timestamptz(0), ' and starts in its turn',
            CASE WHEN limited IS FALSE THEN pg_catalog.concat(', unless a limit of its group keeps it from that, in table ', :its_group_text, ', which you may not read') END,
            '; if it does not, look at the log of the controller that leads');
        RETURN;
    END IF;
    reason := pg_catalog.array_to_string(why, '; ');
    RETURN;
END
$body$;
DO $body$
DECLARE
    made pg_catalog.text[] := ARRAY[pg_catalog.concat(:its_why_text, '(pg_catalog.int8)')];
    other pg_catalog.text;
BEGIN
    :ours
END
$body$;
COMMENT ON FUNCTION :its_why(pg_catalog.int8) IS 'Why a task waits, in a line (:made)';
