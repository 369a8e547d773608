-- What people read: why a task waits, and the views. They run as whoever asks. A table is given by
-- its name, so that nothing stands in the way of its owner's changes. Statistics may say that the
-- table is empty: so the plans are those that suit the indexes.

-- A session that holds a lock.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_holder(pid int4) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT concat('pid ', $1, (SELECT concat(' of role ', quote_ident(a.usename), ' (', quote_literal(a.application_name), ')') FROM pg_stat_activity AS a WHERE a.pid = $1))
$$;
COMMENT ON FUNCTION :schema.pgtaskd_holder IS 'A session that holds a lock (:version)';

-- Why a task waits, in a line. It looks at the locks before it waits for one itself, and visits a
-- bounded part of the table. The numbers are those of the lock of who leads.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_why(tasks text, id int8, class int8, lowest int8, highest int8, leaders text, groups text) RETURNS text LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off SET DateStyle = 'ISO' SET IntervalStyle = 'postgres' AS $$
#variable_conflict use_variable
DECLARE
    moment timestamptz := clock_timestamp();
    current oid := (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database());
    relation regclass := tasks;
    task record; led record; runs record; other record;
    locked text; -- who has locked the row, or the table against changes
    wait interval; said text;
    why text[] := '{}'; rates text[];
BEGIN
    SELECT concat(:schema.pgtaskd_holder(l.pid), ', which has locked the table') AS session, l.mode INTO other
    FROM pg_locks AS l
    WHERE l.locktype = 'relation' AND l.database = current AND l.relation = relation AND l.granted AND l.pid <> pg_backend_pid()
        AND l.mode IN ('AccessExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock')
    LIMIT 1;
    IF other.mode = 'AccessExclusiveLock' THEN RETURN concat('waits for ', other.session); END IF; -- which keeps even readers out
    locked := other.session;
    EXECUTE format('SELECT t.state::text AS state, t.plan, t.base IS NOT NULL AS moved, t.start, t.stop, t.stop::timestamptz(0) AS at, t.max, t."group" AS lane,
            t.remote, t.attempt, t.interrupted, t.retry, t.pid, t.cron, t.origin, t.stopping, t.xmax AS locker, t.after, t.awaits, t.freed,
            t.runs -> -1 ->> ''cause'' AS cause, left(split_part(t.error, E''\n'', 1), 200) AS error
        FROM %s AS t WHERE t.id = $1', relation) INTO task USING id;
    SELECT concat(:schema.pgtaskd_holder(l.pid), ', which has locked the row') INTO other
    FROM pg_locks AS l
    WHERE l.locktype = 'transactionid' AND l.granted AND l.transactionid = task.locker AND l.pid NOT IN (pg_backend_pid(), coalesce(task.pid, -1));
    locked := coalesce(other.concat, locked);
    said := CASE
        WHEN task.state IS NULL THEN concat('there is no task ', coalesce(id::text, 'NULL'), ': it was never inserted, or is deleted')
        WHEN task.stop IS NOT NULL THEN concat(CASE task.state WHEN 'DONE' THEN 'ended well' WHEN 'FAIL' THEN 'failed' WHEN 'GONE' THEN 'was given up' ELSE 'was stopped' END,
            ' at ', task.at, CASE WHEN task.state <> 'STOP' THEN ': ' || task.error END, '; set its state to PLAN to run it again')
        WHEN task.stopping THEN concat('was set to STOP while it ran, in backend ', task.pid, '; its end is not written yet', ': that waits for ' || locked)
        WHEN task.state = 'STOP' THEN concat('is paused', ' (' || task.error || ')', '; set its state to PLAN, and it runs when its plan, ', task.plan::timestamptz(0), ', has come')
        WHEN task.state <> 'PLAN' THEN concat('runs since ', task.start::timestamptz(0), ', for ', date_trunc('second', moment - task.start), ', in backend ', task.pid,
            CASE WHEN task.remote IS NULL THEN ', which waits for a lock of pid ' || nullif(array_to_string(pg_blocking_pids(task.pid), ', '), '') END, '; its end waits for ' || locked)
    END;
    IF said IS NOT NULL THEN RETURN said; END IF;
    -- What it is to run after, its plan, and who leads, which the lock tells whoever may not read
    -- the table of controllers.
    IF task.after IS NOT NULL AND (task.freed IS NULL OR task.awaits IS NOT NULL) THEN
        EXECUTE format('SELECT concat(''waits for task '' || array_to_string((array_agg(concat(a.id, '' ('', p.shown, '')'')))[1:5], '', ''), '' and '' || nullif(greatest(count(*) - 5, 0), 0) || '' more'')
            FROM unnest($1) AS a (id)
            CROSS JOIN LATERAL (SELECT CASE WHEN t.state = ''STOP'' AND t.stop IS NULL AND t.stopping IS NULL THEN ''paused'' ELSE t.state::text END AS shown
                FROM %s AS t WHERE t.id = a.id AND t.state <> ''DONE'') AS p', relation) INTO said USING task.after;
        why := array_append(why, coalesce(nullif(said, '') || ', which it is to run after', 'waits for the leader to see that all tasks in after have ended'));
    END IF;
    wait := CASE WHEN isfinite(task.plan) AND task.plan > moment THEN date_trunc('second', task.plan - moment + '999 ms'::interval) END;
    said := concat(task.plan::timestamptz(0), ', in ', wait);
    why := array_append(why, CASE
        WHEN task.cron IS NOT NULL AND task.origin IS NOT NULL THEN concat('waits for the leader to plan its first run from cron ', left(task.cron, 200))
        WHEN task.plan = 'infinity' THEN 'waits until somebody sets its plan, which is infinity'
        WHEN wait IS NULL THEN NULL
        WHEN task.cause = 'retry' AND task.pid IS NOT NULL THEN concat('waits for its next try, at ', said, ': ', task.attempt::int8 - task.interrupted, ' of ', task.retry::int8 + 1, ' tries failed, the last one with ', task.error)
        WHEN task.moved AND task.error IS NOT NULL AND task.pid IS NULL THEN concat('waits for a session, which could not be had: ', task.error, '; the next try is at ', said)
        ELSE concat('waits for its plan, ', said)
    END);
    SELECT NULL::timestamptz AS seen, NULL::int4 AS run INTO led;
    BEGIN
        EXECUTE format('SELECT l.seen, l.run FROM %s AS l ORDER BY l.leads DESC, l.seen DESC LIMIT 1', leaders) INTO led;
    EXCEPTION WHEN others THEN NULL; -- it is not there, or not for everybody
    END;
    IF NOT EXISTS (SELECT FROM pg_locks AS l WHERE l.locktype = 'advisory' AND l.database = current AND l.granted AND l.objsubid = 2
            AND l.mode = 'ExclusiveLock' AND l.classid::int8 = class AND l.objid::int8 BETWEEN lowest AND highest) THEN
        why := array_append(why, concat('no controller leads the table: start pgtaskd, or look at its log', ' (the last one was seen at ' || led.seen::timestamptz(0)::text || ')'));
    END IF;
    why := array_remove(why, NULL);
    IF why <> '{}' THEN RETURN array_to_string(why, '; '); END IF;
    -- What runs, among the rows that are due first, and where STOP is still to be obeyed.
    EXECUTE format('SELECT count(*) AS total, count(*) FILTER (WHERE r."group" = $1) AS grouped, count(*) FILTER (WHERE r.beside) AS beside,
            array_to_string((array_agg(r.id) FILTER (WHERE r.beside))[1:5], '', '') AS ids
        FROM (
            SELECT h.id, h."group", h."group" = $1 AND h.remote IS NOT DISTINCT FROM $2 AS beside
            FROM (
                (SELECT t.id, t.state, t."group", t.remote FROM %1$s AS t WHERE t.due IS NOT NULL AND t.due <= $3 ORDER BY t.due, t.id LIMIT 5000)
                UNION ALL
                SELECT t.id, t.state, t."group", t.remote FROM %1$s AS t WHERE t.due IS NULL AND t.stopping AND t.state = ''STOP'' AND t.stop IS NULL
            ) AS h
            WHERE h.state <> ''PLAN''
        ) AS r', relation) INTO runs USING task.lane, task.remote, moment;
    why := array_append(why, 'waits for ' || locked);
    IF has_table_privilege(to_regclass(groups)::oid, 'SELECT') THEN
        FOR other IN EXECUTE format('SELECT concat('' of row '', quote_ident(left(g."group", 100)), '' of '', $3) AS row, g.until, g.paused AND coalesce(g.until > $2, true) AS paused, g.slots, g.rate, g.per
            FROM %s AS g WHERE g."group" = $1 OR right(g."group", 1) = ''%%'' AND starts_with($1, left(g."group", -1)) ORDER BY g.slots, g."group"', groups) USING task.lane, moment, groups LOOP
            IF other.paused THEN
                why := array_append(why, concat('waits for the pause', other.row, ', which ends ',
                    coalesce('at ' || nullif(other.until, 'infinity')::timestamptz(0)::text, 'when somebody sets paused to false')));
            ELSIF other.slots <= runs.grouped THEN
                why := array_append(why, concat('waits for slots, of which ', runs.grouped, ' are taken of ', other.slots, ',', other.row));
            ELSIF other.rate IS NOT NULL THEN
                rates := array_append(rates, concat('waits for rate, which lets ', other.rate, ' start per ', other.per, ',', other.row));
            END IF;
        END LOOP;
    END IF;
    IF runs.beside > greatest(task.max, 0) THEN
        why := array_append(why, concat('waits for its lane, group ', quote_ident(left(task.lane, 100)), ', in which ', runs.beside, ' run (task ', runs.ids,
            ' and ' || nullif(greatest(runs.beside - 5, 0), 0) || ' more', '): max ', task.max, ' lets it start while at most ', greatest(task.max, 0), ' run'));
    ELSIF task.max < 0 THEN
        why := array_append(why, concat('waits for the pause of its lane: max is ', task.max, ', so it starts ', make_interval(secs => task.max / -1000::float8), ' after the end of the task before it'));
    END IF;
    why := why || CASE WHEN runs.total >= led.run THEN concat('waits for run: the target runs ', runs.total, ' tasks, and its run is ', led.run) END
        || CASE WHEN task.moved AND task.pid IS NULL THEN 'waits for a session, which could not be had: ' || task.error END;
    why := array_remove(why, NULL);
    IF why = '{}' THEN -- what has started is not seen, as its row may be gone
        why := coalesce(rates, ARRAY[concat('is due since ', greatest(task.plan, task.freed)::timestamptz(0), ' and starts in its turn; if it does not, look at the log of the controller that leads')]);
    END IF;
    RETURN array_to_string(why, '; ');
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_why IS 'Why a task waits, in a line (:version)';

-- What repeats, a row for each chain: its task that waits, is paused, or runs. The last run is that
-- of the row itself, or of the one before it.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_schedule(tasks text, leaders text) RETURNS TABLE (key text, chain int8, expression text, zone text, next_run timestamptz,
    last_start timestamptz, last_end timestamptz, state text, error text, failures int4, skipped int4, given_up_after timestamptz) LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET work_mem = '64MB' AS $$
BEGIN
    BEGIN
        EXECUTE format('SELECT l.timezone FROM %s AS l ORDER BY l.leads DESC, l.seen DESC LIMIT 1', leaders) INTO zone; -- of who leads
    EXCEPTION WHEN undefined_table OR undefined_column OR insufficient_privilege OR wrong_object_type THEN NULL;
    END;
    RETURN QUERY EXECUTE format($q$
        SELECT t.key::text, t.id::int8, coalesce(regexp_replace(t.cron, '^ *(?:CRON_)?TZ=[^ ]+ +', ''), t.repeat::text),
            coalesce((regexp_match(t.cron, '^ *(?:CRON_)?TZ=([^ ]+) '))[1], $1), w.next_run,
            coalesce(CASE WHEN w.runs THEN t.start::timestamptz END, (r.last ->> 'start')::timestamptz, p.start),
            CASE WHEN NOT w.runs THEN coalesce((r.last ->> 'stop')::timestamptz, p.stop) END,
            CASE WHEN w.runs OR t.state = 'STOP' THEN t.state::text ELSE coalesce(r.last ->> 'state', p.state::text, t.state::text) END,
            CASE WHEN NOT w.runs THEN coalesce(t.error::text, p.error::text) END, t.failures::int4, t.skipped::int4,
            CASE WHEN t.active > '0' AND t.max >= 0 AND t.catchup = 0 AND t.attempt = 0 AND w.next_run < 'infinity' THEN coalesce(t.base, t.plan) + t.active END
        FROM %1$s AS t
        CROSS JOIN LATERAL (SELECT t.state IN ('TAKE', 'WORK') OR t.stopping IS TRUE AS runs,
            CASE WHEN t.state = 'PLAN' AND (t.cron IS NULL OR t.origin IS NULL) THEN t.plan END AS next_run) AS w
        CROSS JOIN LATERAL (SELECT CASE WHEN t.attempt > 0 THEN t.runs -> -1 END AS last) AS r
        LEFT JOIN %1$s AS p ON p.id = t.parent AND p.next = t.id
        WHERE t.stop IS NULL AND (t.repeat > '0' OR t.cron IS NOT NULL)
            AND (t.next IS NULL OR NOT EXISTS (SELECT FROM %1$s AS n WHERE n.id = t.next AND n.stop IS NULL))
    $q$, tasks::regclass) USING zone;
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_schedule IS 'What the view shows (:version)';

-- What runs, among the rows that are due first.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_run(tasks text) RETURNS TABLE (id int8, "group" text, key text, since timestamptz, pid int4, wait_event text, blocked_by int4[], query text) LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
BEGIN
    RETURN QUERY EXECUTE format($q$
        SELECT t.id::int8, t."group"::text, t.key::text, t.start::timestamptz, t.pid::int4, a.wait_event,
            CASE WHEN t.remote IS NULL AND t.pid IS NOT NULL THEN nullif(pg_blocking_pids(t.pid::int4), '{}') END, nullif(a.query, '<insufficient privilege>')
        FROM (SELECT h.id, h."group", h.key, h.start, h.pid, h.state, h.remote FROM %s AS h WHERE h.due IS NOT NULL AND h.due <= statement_timestamp() ORDER BY h.due, h.id LIMIT 50000) AS t
        LEFT JOIN LATERAL pg_stat_get_activity(t.pid::int4) AS a ON t.remote IS NULL AND a.backend_start <= t.start
        WHERE t.state IN ('TAKE', 'WORK')
    $q$, tasks::regclass);
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_run IS 'What the view shows (:version)';

-- The newest 100,000 ids, by group and state.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_stat(tasks text) RETURNS TABLE ("group" text, state text, count int8, waiting_avg interval, waiting_p50 interval, waiting_p95 interval,
    waiting_max interval, running_avg interval, running_p50 interval, running_p95 interval, running_max interval, last_error text) LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET work_mem = '64MB' AS $$
BEGIN
    RETURN QUERY EXECUTE format($q$
        SELECT s."group", s.state, s.count, make_interval(secs => s.waited), make_interval(secs => s.waits[1]), make_interval(secs => s.waits[2]), make_interval(secs => s.longest_wait),
            make_interval(secs => s.ran), make_interval(secs => s.runs[1]), make_interval(secs => s.runs[2]), make_interval(secs => s.longest_run),
            (SELECT split_part(e.error, E'\n', 1) FROM %1$s AS e WHERE e.id = s.failed)
        FROM (
            SELECT n."group", n.state, count(*) AS count, max(n.failed) AS failed,
                avg(n.waiting) AS waited, percentile_cont('{0.5,0.95}'::float8[]) WITHIN GROUP (ORDER BY n.waiting) AS waits, max(n.waiting) AS longest_wait,
                avg(n.running) AS ran, percentile_cont('{0.5,0.95}'::float8[]) WITHIN GROUP (ORDER BY n.running) AS runs, max(n.running) AS longest_run
            FROM (
                SELECT t."group"::text AS "group", t.state::text AS state, CASE WHEN t.error IS NOT NULL THEN t.id END AS failed,
                    CASE WHEN isfinite(t.plan) THEN greatest(0, date_part('epoch', coalesce(t.start, t.stop, statement_timestamp())
                        - greatest(t.plan, CASE WHEN isfinite(t.freed) THEN t.freed END))) END AS waiting,
                    greatest(0, date_part('epoch', coalesce(t.stop, statement_timestamp()) - t.start)) AS running
                FROM %1$s AS t ORDER BY t.id DESC LIMIT 100000
            ) AS n
            GROUP BY n."group", n.state
        ) AS s
    $q$, tasks::regclass);
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_stat IS 'What the view shows (:version)';

-- The errors of the newest 100,000 ids.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_error(tasks text) RETURNS TABLE (sqlstate text, error text, count int8, first timestamptz, last timestamptz, example int8) LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET work_mem = '64MB' AS $$
BEGIN
    RETURN QUERY EXECUTE format($q$
        SELECT e.sqlstate, e.error, count(*), min(e.at), max(e.at), max(e.id)
        FROM (
            SELECT t.sqlstate::text AS sqlstate, split_part(t.error, E'\n', 1) AS error, t.id::int8 AS id, coalesce(t.stop, (t.runs -> -1 ->> 'stop')::timestamptz, t.plan) AS at
            FROM %s AS t ORDER BY t.id DESC LIMIT 100000
        ) AS e
        WHERE e.error IS NOT NULL
        GROUP BY e.sqlstate, e.error
    $q$, tasks::regclass);
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_error IS 'What the view shows (:version)';
