-- Writes what follows from tasks that our transaction has just ended (other rows may have the same
-- id): the task in on_fail, the notification, and above all the repetition.
-- A task that has ended (with overlap: started) is repeated at the first base + k * repeat after
-- now; with drift, one period after its end.
-- With catchup the beats between the task's own and now (or until) are not all skipped: the newest
-- so many run. With cron, the leader finds the beat after the one in origin (planned.sql).
-- The repetition knows when the job was last DONE, however many rows are deleted.
-- After max_failures FAILs in a row the repetition is paused. With overlap the repetition exists
-- before the run has ended; then it is paused when the run ends.
-- k is estimated from the average length of a month, and is off by one or two at most.
-- All beats are counted from the origin of the chain: a chain goes from January 31 over February 28
-- to March 31, and from half past two over a day that has no half past two to the next that has. If
-- somebody has changed plan or repeat, so that the origin no longer leads to the task's own beat,
-- the origin no longer counts.
-- If another task waits with the key, repeats itself and has the same role, it carries the series
-- on. Else the repetition is written as superseded: it keeps the series, and somebody can set it to
-- PLAN. If the other task began to wait after the statement began, the INSERT conflicts with it; an
-- UPDATE that changes nothing makes it visible then.
-- If several tasks with one key have ended, the first repeats itself; others of its role join that.
-- A task whose plan is infinite waits until somebody plans it, and so does its repetition.
-- If somebody has inserted a row with the drawn id, another is drawn. Any other conflict, unless it
-- is on the key, is an error.
-- Returns whether ids could be drawn, whether no other task waits with the key by now, and whether
-- all rows were written. If one is false, the transaction must be rolled back. Also returns the
-- tasks that are paused now, with their keys in the database's encoding, and their failures.
-- $1 ids
WITH ended AS MATERIALIZED (
    SELECT
        t.part,
        t.place,
        t.id,
        t.key,
        t.cron,
        t.repeat,
        t.drift,
        t.stop,
        t.base,
        t.origin,
        t.until,
        t.catchup,
        t.failures,
        t.max_failures > 0 AND t.failures >= t.max_failures AS paused,
        CASE WHEN t.catchup > 0 AND isfinite(t.until) THEN least(statement_timestamp(), t.until) ELSE statement_timestamp() END AS missed,
        (date_part('year', t.repeat) * 31556952)
            + (date_part('month', t.repeat) * 2629746)
            + (date_part('day', t.repeat) * 86400)
            + (date_part('hour', t.repeat) * 3600)
            + (date_part('minute', t.repeat) * 60)
            + date_part('second', t.repeat) AS period
    FROM unnest($1::int8[]) AS l (id)
    CROSS JOIN LATERAL (
        SELECT
            t.tableoid AS part,
            t.ctid AS place,
            t.id,
            t.key,
            t.cron,
            t.repeat,
            t.drift,
            coalesce(t.stop, statement_timestamp()) AS stop,
            CASE WHEN isfinite(t.plan) OR t.base IS NOT NULL THEN coalesce(t.base, t.plan) END AS base,
            CASE WHEN isfinite(t.origin) THEN t.origin END AS origin,
            t.until,
            t.catchup,
            :failures AS failures,
            t.max_failures
        FROM :table AS t
        WHERE t.id BETWEEN l.id AND l.id
            AND :written
            AND (
                t.state = ANY ('{DONE,FAIL,GONE}')
                OR t.overlap AND t.state = 'WORK'
            )
            AND t.next IS NULL
            AND (t.repeat > '0' OR t.cron IS NOT NULL)
            AND (t.cron IS NULL OR t.state <> 'FAIL' OR t.attempt > 0) -- else its cron cannot be read
        ORDER BY t.id
    ) AS t
),
chain AS MATERIALIZED (
    SELECT
        e.*,
        CASE WHEN own.k IS NULL THEN e.base ELSE e.origin END AS counted,
        coalesce(own.k, 0) AS k
    FROM ended AS e
    CROSS JOIN LATERAL (
        SELECT max(n.k) AS k
        FROM generate_series(-3, 3) AS near
        CROSS JOIN LATERAL (SELECT greatest(
            0,
            floor(date_part('epoch', e.base - e.origin) / e.period) + near
        ) AS k) AS n
        WHERE e.cron IS NULL
            AND e.base = (e.origin + (e.repeat * n.k))
    ) AS own
),
beat AS MATERIALIZED (
    SELECT
        c.part,
        c.place,
        c.id,
        c.key,
        -- Else there may be a missed beat before until.
        CASE WHEN c.cron IS NULL OR c.catchup = 0 THEN c.until END AS until,
        c.failures,
        c.paused,
        CASE
            WHEN c.cron IS NOT NULL THEN statement_timestamp()
            WHEN c.base IS NULL THEN 'infinity'
            WHEN c.drift THEN c.stop + c.repeat
            ELSE coalesce(c.counted + (c.repeat * chosen.k), statement_timestamp() + c.repeat)
        END AS plan,
        CASE
            WHEN c.drift AND c.cron IS NOT NULL THEN statement_timestamp()
            WHEN c.drift THEN c.stop
            ELSE c.counted
        END AS origin,
        CASE
            WHEN c.drift OR c.cron IS NOT NULL THEN 0
            ELSE greatest(0, least(2147483647, coalesce(chosen.k - c.k - 1, 0)))
        END AS skipped
    FROM chain AS c
    LEFT JOIN LATERAL ( -- the first beat that is not missed
        SELECT n.k
        FROM generate_series(-3, 3) AS near
        CROSS JOIN LATERAL (SELECT greatest(
            1,
            floor(date_part('epoch', c.missed - c.counted) / c.period) + near
        ) AS k) AS n
        WHERE c.cron IS NULL
            AND (c.counted + (c.repeat * n.k)) > c.missed
        ORDER BY n.k
        LIMIT 1
    ) AS first ON true
    CROSS JOIN LATERAL (
        SELECT CASE
            WHEN c.catchup > 0 THEN greatest(c.k + 1, first.k - c.catchup)
            ELSE first.k
        END AS k
    ) AS chosen
),
followed AS MATERIALIZED (
    SELECT b.part, b.place, b.id, b.plan, b.origin, b.skipped, b.failures, b.paused, b.key, waiting.id AS other, coalesce(waiting.repeats, false) AS carried
    FROM beat AS b
    LEFT JOIN LATERAL (
        SELECT w.id, (w.repeat > '0' OR w.cron IS NOT NULL):of_its_role AS repeats
        FROM :table AS w
        WHERE b.key IS NOT NULL -- else the server reads all of a partitioned table: it has no such index
            AND w.wait_key = b.key
        LIMIT 1
    ) AS waiting ON true
    WHERE b.until IS NULL
        OR b.plan <= b.until
),
over AS MATERIALIZED (
    SELECT t.*
    FROM unnest($1::int8[]) AS l (id)
    CROSS JOIN LATERAL (
        SELECT t.id, t.state, t."group", t.data:role_kept, t.on_fail, t.notify, t.on_fail IS NOT NULL AND t.state = ANY ('{FAIL,GONE}') AS failed
        FROM :table AS t
        WHERE t.id BETWEEN l.id AND l.id
            AND :written
            AND (t.on_fail IS NOT NULL OR t.notify IS NOT NULL)
            AND (
                t.state = ANY ('{DONE,FAIL,GONE}')
                OR t.state = 'STOP' AND t.stop IS NOT NULL
            )
        ORDER BY t.id
    ) AS t
),
numbered AS MATERIALIZED (
    SELECT f.*, d.id AS drawn, f.key IS NULL OR f.id = min(f.id) OVER (PARTITION BY f.key) AS first
    FROM followed AS f
    LEFT JOIN LATERAL (
        :drawn
    ) AS d ON (:sequence) > 0
    WHERE NOT f.carried
),
repeated AS (
    INSERT INTO :table AS w (:drawn_id parent, plan, origin, skipped, failures, :succeeded state, error, :copied)
    OVERRIDING SYSTEM VALUE
    SELECT
        :drawn_id_of_f
        t.id,
        f.plan,
        f.origin,
        f.skipped,
        f.failures,
        :succeeded_of_t
        CASE WHEN f.paused OR t.stopping THEN 'STOP' WHEN true THEN 'PLAN' ELSE t.state END,
        CASE WHEN f.paused THEN :paused END,
        :copied_of_t
    FROM numbered AS f
    JOIN :table AS t ON t.ctid = f.place AND t.tableoid = f.part
    WHERE f.other IS NULL
        AND f.first
        AND (f.drawn IS NOT NULL OR (:sequence) = 0)
    :unless_key_waits
    RETURNING id, parent, wait_key, repeat > '0' OR w.cron IS NOT NULL AS repeats, :made AS made, key, failures,
        state = 'STOP' AND w.max_failures > 0 AND failures >= w.max_failures AS paused:role_named
),
met AS MATERIALIZED ( -- the tasks that wait with each key by now
    SELECT
        f.*,
        max(r.id) OVER k AS met,
        bool_or(r.repeats) OVER k AS repeats,
        bool_or(r.made) OVER k AS made:met_role
    FROM numbered AS f
    FULL JOIN repeated AS r ON false -- appends the rows; a join would make too many pairs
    WINDOW k AS (PARTITION BY coalesce(f.key, r.wait_key))
),
kept AS (
    INSERT INTO :table (:drawn_id parent, plan, origin, skipped, failures, :succeeded state, start, stop, error, :copied)
    OVERRIDING SYSTEM VALUE
    SELECT
        :drawn_id_of_f
        t.id,
        f.plan,
        f.origin,
        f.skipped,
        f.failures,
        :succeeded_of_t
        'GONE',
        statement_timestamp(),
        statement_timestamp(),
        'ERROR:  superseded by task ' || coalesce(f.other, f.met)::text,
        :copied_of_t
    FROM met AS f
    JOIN :table AS t ON t.ctid = f.place AND t.tableoid = f.part
    WHERE (f.drawn IS NOT NULL OR (:sequence) = 0)
        AND (
            f.other IS NOT NULL
            OR f.key IS NOT NULL AND f.met IS NOT NULL AND NOT (f.made AND f.first) AND NOT (f.repeats:of_that_role)
        )
    RETURNING id, parent
),
linked AS (
    UPDATE :table AS t
    SET
        next = n.id,
        stopping = NULL
    FROM (
        SELECT
            f.part,
            f.place,
            CASE
                WHEN f.carried THEN f.other
                ELSE coalesce(
                    max(f.kept) OVER (PARTITION BY f.id),
                    max(f.own) OVER (PARTITION BY f.id),
                    CASE WHEN f.key IS NOT NULL THEN max(f.same) OVER (PARTITION BY f.key) END
                )
            END AS id
        FROM (
            SELECT f.part, f.place, f.id, f.key, f.carried, f.other, NULL::int8 AS kept, NULL::int8 AS own, NULL::int8 AS same
            FROM followed AS f
            UNION ALL
            SELECT NULL, NULL, k.parent, NULL, NULL, NULL, k.id, NULL, NULL
            FROM kept AS k
            UNION ALL
            SELECT NULL, NULL, CASE WHEN r.made THEN r.parent END, r.wait_key, NULL, NULL, NULL, CASE WHEN r.made THEN r.id END, r.id
            FROM repeated AS r
        ) AS f
    ) AS n
    WHERE t.ctid = n.place
        AND t.tableoid = n.part
    RETURNING t.next IS NULL AS left_out, t.key IS NOT NULL AS named
),
told AS (
    UPDATE :table AS n
    SET
        failures = f.failures,
        :succeeded_is
        state = CASE WHEN f.paused THEN 'STOP' WHEN true THEN 'PLAN' ELSE n.state END,
        error = CASE WHEN f.paused THEN :paused ELSE n.error END
    FROM (
        SELECT
            n.part,
            n.place,
            f.failures,
            :succeeded_of_t
            t.max_failures > 0 AND f.failures >= t.max_failures AS paused
        FROM unnest($1::int8[]) AS l (id)
        CROSS JOIN LATERAL (
            SELECT t.*
            FROM :table AS t
            WHERE t.id BETWEEN l.id AND l.id
                AND :written
                AND t.overlap
                AND t.state = ANY ('{DONE,FAIL}')
            ORDER BY t.id
        ) AS t
        CROSS JOIN LATERAL (SELECT :failures AS failures) AS f
        CROSS JOIN LATERAL (
            SELECT n.tableoid AS part, n.ctid AS place
            FROM :table AS n
            WHERE n.id BETWEEN t.next AND t.next
                AND n.state = 'PLAN'
                AND n.attempt = 0
                AND (n.failures <> f.failures:or_succeeded)
            ORDER BY n.id
        ) AS n
    ) AS f
    WHERE n.ctid = f.place
        AND n.tableoid = f.part
    RETURNING n.id, n.key, n.failures, f.paused
),
added AS (
    INSERT INTO :table (:drawn_id parent, "group", data, input:role_named)
    OVERRIDING SYSTEM VALUE
    SELECT :drawn_id_of_f f.id, f."group", f.data, f.on_fail:role_of_f
    FROM (
        SELECT f.*, d.id AS drawn
        FROM over AS f
        LEFT JOIN LATERAL (
            :drawn
        ) AS d ON (:sequence) > 0
        WHERE f.failed
            AND (d.id IS NOT NULL OR (:sequence) = 0)
    ) AS f
    RETURNING id
),
notified AS MATERIALIZED (
    SELECT pg_notify(o.notify, concat('{"id": ', o.id, ', "state": "', o.state, '"}'))
    FROM over AS o
    WHERE o.notify IS NOT NULL
)
SELECT
    (:sequence) = 0 OR NOT EXISTS (SELECT FROM numbered AS n WHERE n.drawn IS NULL),
    NOT EXISTS (SELECT FROM linked AS l WHERE l.left_out AND l.named),
    NOT EXISTS (SELECT FROM linked AS l WHERE l.left_out)
        AND (SELECT count(*) FROM over AS o WHERE o.failed) = (SELECT count(*) FROM added),
    (SELECT count(*) FROM notified),
    array_agg(p.id),
    array_agg(p.key),
    array_agg(p.failures)
FROM (
    SELECT p.id, convert_to(left(p.key, 200), getdatabaseencoding()) AS key, p.failures
    FROM (
        SELECT r.id, r.key, r.failures, r.paused FROM repeated AS r
        UNION ALL
        SELECT t.id, t.key, t.failures, t.paused FROM told AS t
    ) AS p
    WHERE p.paused
) AS p
