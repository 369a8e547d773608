-- Reports for people: why a task waits, and the functions of the views. They run as the role that
-- asks. They take tables by name, so that they do not stop the owner from changing the table.
-- Statistics may say that the table is empty, so the statements are written for the indexes.

-- Says in one line why a task waits. It looks at the locks before it waits for one itself, and
-- reads a bounded part of the table. class, lowest and highest are the numbers of the leader's
-- lock. Rows of tasks that have started may be gone, so a rate does not count them. run is the
-- leader's; locked is the session that has locked the row, or the table against changes.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_why(tasks text, id int8, class int8, lowest int8, highest int8, leaders text, groups text) RETURNS text LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    current oid := (SELECT oid FROM pg_database WHERE datname = current_database());
    task record; lock record; running record;
    locked text; run int4; error text; planned text; said text; rates text;
BEGIN
    SELECT format('pid %s of role %I, which has locked the table', pid, usename) AS holder, mode INTO lock
    FROM pg_locks
    JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'relation' AND database = current AND relation = tasks::regclass AND granted AND pid <> pg_backend_pid()
        AND mode IN ('AccessExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock')
    LIMIT 1;
    IF lock.mode = 'AccessExclusiveLock' THEN RETURN concat('waits for ', lock.holder); END IF;
    EXECUTE format('SELECT *, xmax FROM %s WHERE id = $1', tasks) INTO task USING id;
    error := left(replace(substring(task.error FROM '(?n)^.*(?:\nDETAIL:.*)?'), E'\n', '; '), 400);
    SELECT format('pid %s of role %I, which has locked the row', pid, usename) INTO locked
    FROM pg_locks
    JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'transactionid' AND granted AND transactionid = task.xmax AND pid NOT IN (pg_backend_pid(), coalesce(task.pid, -1));
    locked := coalesce(locked, lock.holder);
    said := CASE
        WHEN task.state IS NULL THEN concat('there is no task ', coalesce(id::text, 'NULL'))
        WHEN task.stop IS NOT NULL THEN concat(task.state, ' at ', task.stop::timestamptz(0), ': ' || error, '; set its state to PLAN to run it again')
        WHEN task.state = 'STOP' AND task.stopping IS NOT TRUE THEN concat('is paused', ' (' || error || ')', '; set its state to PLAN to let it run')
        WHEN task.state <> 'PLAN' THEN concat(CASE WHEN task.stopping THEN 'was set to STOP, and ' END, 'runs since ', task.start::timestamptz(0), ' in backend ', task.pid,
            CASE WHEN task.remote IS NULL THEN ', which waits for a lock of pid ' || nullif(array_to_string(pg_blocking_pids(task.pid), ', '), '')
                WHEN task.xact_at LIKE '%/%/%' THEN ', and its remote must say how it ended' END, '; its end waits for ' || locked)
    END;
    IF said IS NOT NULL THEN RETURN said; END IF;
    IF task.after IS NOT NULL AND (task.freed IS NULL OR task.awaits IS NOT NULL) THEN
        EXECUTE format($q$SELECT concat('waits for ', count(*), ' tasks in after',
                ': ' || array_to_string((array_agg(concat(id, ' (', state, ')')))[1:5], ', '))
            FROM %s WHERE id = ANY ($1) AND state <> 'DONE'$q$, tasks) INTO said USING task.after;
    END IF;
    planned := CASE WHEN task.plan > moment AND task.plan < 'infinity' THEN concat(task.plan::timestamptz(0), ', in ', (task.plan - moment)::interval(0)) END;
    said := concat_ws('; ', said, CASE
        WHEN task.cron IS NOT NULL AND task.origin IS NOT NULL THEN 'waits for the leader to plan it by its cron'
        WHEN task.plan = 'infinity' THEN 'waits until somebody sets its plan, which is infinity'
        WHEN planned IS NULL THEN NULL
        WHEN task.runs -> -1 ->> 'cause' = 'retry' AND task.pid IS NOT NULL THEN concat('waits for its next try, at ', planned, ': ', task.attempt::int8 - task.interrupted, ' of ', task.retry::int8 + 1, ' tries failed, the last one with ', error)
        WHEN task.base IS NOT NULL AND error IS NOT NULL AND task.pid IS NULL THEN concat('waits for a session, which could not be had: ', error, '; the next try is at ', planned)
        ELSE 'waits for its plan, ' || planned
    END);
    IF NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND database = current AND granted AND objsubid = 2
            AND mode = 'ExclusiveLock' AND classid::int8 = class AND objid::int8 BETWEEN lowest AND highest) THEN
        said := concat_ws('; ', nullif(said, ''), 'no controller leads the table: start pgtaskd, or look at its log');
    END IF;
    IF said <> '' THEN RETURN said; END IF;
    EXECUTE format($q$SELECT count(*) AS total, count(*) FILTER (WHERE r."group" = $1) AS grouped, count(*) FILTER (WHERE b.beside) AS beside,
            array_to_string((array_agg(r.id) FILTER (WHERE b.beside))[1:5], ', ') AS ids
        FROM (
            (SELECT t.* FROM %1$s AS t WHERE t.due <= $3 ORDER BY t.due, t.id LIMIT 5000)
            UNION ALL
            SELECT t.* FROM %1$s AS t WHERE t.due IS NULL AND t.stopping AND t.state = 'STOP' AND t.stop IS NULL
        ) AS r
        CROSS JOIN LATERAL (SELECT r."group" = $1 AND r.remote IS NOT DISTINCT FROM $2 AS beside) AS b
        WHERE r.state <> 'PLAN'$q$, tasks) INTO running USING task."group", task.remote, moment;
    IF has_table_privilege(to_regclass(groups), 'SELECT') THEN
        EXECUTE format($q$SELECT string_agg(CASE
                WHEN g.paused AND coalesce(g.until > $2, true) THEN concat('waits for the pause', r.row, ', set by ' || g.changed_by, ' (' || replace(left(g.note, 200), E'\n', ' ') || ')', ', which ends ',
                    coalesce('at ' || nullif(g.until, 'infinity')::timestamptz(0)::text, 'when somebody sets paused to false'))
                WHEN g.slots <= $3 THEN concat('waits for slots, of which ', $3, ' are taken of ', g.slots, ',', r.row)
            END, '; ' ORDER BY g.slots, g."group"), string_agg('waits for rate, which lets ' || g.rate || ' start per ' || g.per || ',' || r.row, '; ')
            FROM %1$s AS g
            CROSS JOIN concat(' of row ', quote_ident(left(g."group", 100)), ' of ', %1$L) AS r (row)
            WHERE g."group" = $1 OR right(g."group", 1) = '%%' AND starts_with($1, left(g."group", -1))$q$, groups) INTO said, rates USING task."group", moment, running.grouped;
    END IF;
    IF has_any_column_privilege(to_regclass(leaders), 'SELECT') THEN
        EXECUTE format('SELECT run FROM %s ORDER BY leads DESC, seen DESC LIMIT 1', leaders) INTO run;
    END IF;
    said := concat_ws('; ', 'waits for ' || locked, said, CASE
        WHEN running.beside > greatest(task.max, 0) THEN concat('waits for its lane, group ', quote_ident(left(task."group", 100)), ', in which ', running.beside, ' run (task ', running.ids,
            '): it starts when ', coalesce('fewer than ' || nullif(greatest(task.max, 0), 0) + 1 || ' run', 'none runs'))
        WHEN task.max < 0 THEN concat('waits for the pause of its lane: it starts ', -task.max, ' ms after the end of the task before it')
    END, CASE WHEN running.total >= run THEN concat('waits for run, which is ', run, ': ', running.total, ' tasks run') END);
    RETURN coalesce(nullif(said, ''), rates, concat('is due since ', greatest(task.plan, task.freed)::timestamptz(0),
        ' and starts in its turn; else look at the log of pgtaskd'));
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_why IS 'Says why a task waits (:version)';

-- The schedule: a row for each chain, with its task that waits, is paused or runs. The last run is
-- in that row itself, or in the row before it.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_schedule(tasks text, leaders text) RETURNS TABLE (key text, chain int8, expression text, zone text, next_run timestamptz,
    last_start timestamptz, last_end timestamptz, state text, error text, failures int4, skipped int4, given_up_after timestamptz) LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF has_any_column_privilege(to_regclass(leaders), 'SELECT') THEN
        EXECUTE format('SELECT timezone FROM %s ORDER BY leads DESC, seen DESC LIMIT 1', leaders) INTO zone;
    END IF;
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
COMMENT ON FUNCTION :schema.pgtaskd_schedule IS 'Rows of the view (:version)';

-- Running tasks, among the rows that are due first.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_run(tasks text) RETURNS TABLE (id int8, "group" text, key text, since timestamptz, pid int4, wait_event text, blocked_by int4[], query text) LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY EXECUTE format($q$
        SELECT t.id::int8, t."group"::text, t.key::text, t.start::timestamptz, t.pid::int4, a.wait_event,
            CASE WHEN t.remote IS NULL THEN nullif(pg_blocking_pids(t.pid::int4), '{}') END, nullif(a.query, '<insufficient privilege>')
        FROM (SELECT * FROM %s WHERE due <= statement_timestamp() ORDER BY due, id LIMIT 50000) AS t
        LEFT JOIN pg_stat_get_activity(t.pid::int4) AS a ON t.remote IS NULL AND a.backend_start <= t.start
        WHERE t.state IN ('TAKE', 'WORK')
    $q$, tasks::regclass);
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_run IS 'Rows of the view (:version)';

-- Statistics of the newest 100,000 ids, by group and state.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_stat(tasks text) RETURNS TABLE ("group" text, state text, count int8, waiting_avg interval, waiting_p50 interval, waiting_p95 interval,
    waiting_max interval, running_avg interval, running_p50 interval, running_p95 interval, running_max interval, last_error text) LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY EXECUTE format($q$
        SELECT "group", state, count(*),
            avg(waiting), percentile_cont(0.5) WITHIN GROUP (ORDER BY waiting), percentile_cont(0.95) WITHIN GROUP (ORDER BY waiting), max(waiting),
            avg(running), percentile_cont(0.5) WITHIN GROUP (ORDER BY running), percentile_cont(0.95) WITHIN GROUP (ORDER BY running), max(running),
            (SELECT split_part(e.error, E'\n', 1) FROM %1$s AS e WHERE e.id = max(s.failed))
        FROM (
            SELECT t."group"::text AS "group", t.state::text AS state, CASE WHEN t.error IS NOT NULL THEN t.id END AS failed,
                CASE WHEN isfinite(t.plan) THEN greatest('0', coalesce(t.start, t.stop, statement_timestamp()) - greatest(t.plan, nullif(t.freed, 'infinity'))) END AS waiting,
                greatest('0', coalesce(t.stop, statement_timestamp()) - t.start) AS running
            FROM %1$s AS t ORDER BY t.id DESC LIMIT 100000
        ) AS s
        GROUP BY "group", state
    $q$, tasks::regclass);
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_stat IS 'Rows of the view (:version)';

-- The errors of the newest 100,000 ids.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_error(tasks text) RETURNS TABLE (sqlstate text, error text, count int8, first timestamptz, last timestamptz, example int8) LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY EXECUTE format($q$
        SELECT sqlstate, error, count(*), min(at), max(at), max(id)
        FROM (
            SELECT t.sqlstate::text AS sqlstate, split_part(t.error, E'\n', 1) AS error, t.id::int8 AS id, coalesce(t.stop, (t.runs -> -1 ->> 'stop')::timestamptz, t.plan) AS at
            FROM %s AS t ORDER BY t.id DESC LIMIT 100000
        ) AS e
        WHERE error IS NOT NULL
        GROUP BY sqlstate, error
    $q$, tasks::regclass);
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_error IS 'Rows of the view (:version)';
