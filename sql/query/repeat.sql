-- Creates the repetitions of tasks that have just ended: at the first base + k * repeat after now, or, with drift, one period after the end.
-- The number of the period is estimated from the average length of months, and is off by one or two at most, as calendars go.
-- Months are counted from the origin of the chain: from the 31st of January by way of the 28th of February to the 31st of March. An origin
-- that does not lead to the task's own beat any more, because somebody has changed plan or repeat, counts no longer.
-- Where another task waits with the key, and repeats itself, the series is that one's already. Where it does not, the repetition is written as one that
-- has been superseded: it keeps all that the series is, for somebody to set it to PLAN.
-- $1 ids
WITH ended AS MATERIALIZED (
    SELECT
        t.id,
        t.repeat,
        t.drift,
        coalesce(t.stop, statement_timestamp()) AS stop,
        coalesce(t.base, t.plan) AS base,
        t.origin,
        t.until,
        extract(year FROM t.repeat) * 31556952.0 + extract(month FROM t.repeat) * 2629746.0 + extract(day FROM t.repeat) * 86400.0
            + extract(hour FROM t.repeat) * 3600.0 + extract(minute FROM t.repeat) * 60.0 + extract(second FROM t.repeat) AS period
    FROM :table AS t
    WHERE t.id = ANY ($1)
        AND t.state IN ('DONE', 'FAIL', 'GONE')
        AND t.next IS NULL
        AND t.repeat > '0'
),
chain AS MATERIALIZED (
    SELECT
        e.*,
        CASE WHEN EXISTS (
            SELECT
            FROM generate_series(-3, 3) AS near
            WHERE e.origin + e.repeat * greatest(0, floor(extract(epoch FROM e.base - e.origin) / e.period) + near)::float8 = e.base
        ) THEN e.origin ELSE e.base END AS counted
    FROM ended AS e
),
beat AS MATERIALIZED (
    SELECT
        c.id,
        CASE WHEN c.drift THEN c.stop + c.repeat ELSE coalesce(first.plan, statement_timestamp() + c.repeat) END AS plan,
        CASE WHEN NOT c.drift AND date_trunc('month', c.repeat) > '0' THEN c.counted END AS origin,
        c.until
    FROM chain AS c
    CROSS JOIN LATERAL (
        SELECT min(candidate.plan) AS plan
        FROM generate_series(-3, 3) AS near
        CROSS JOIN LATERAL (
            SELECT c.counted
                + c.repeat * greatest(1, floor(extract(epoch FROM statement_timestamp() - c.counted) / c.period) + near)::float8 AS plan
        ) AS candidate
        WHERE candidate.plan > statement_timestamp()
    ) AS first
),
followed AS MATERIALIZED (
    SELECT b.id, b.plan, b.origin, t.key, waiting.id AS other, coalesce(waiting.repeats, false) AS carried
    FROM beat AS b
    JOIN :table AS t USING (id)
    LEFT JOIN LATERAL (
        SELECT w.id, w.repeat > '0' OR w.cron IS NOT NULL AS repeats
        FROM :table AS w
        WHERE t.key IS NOT NULL -- else a partitioned table, which has no index for this, would be read
            AND w.wait_key = t.key
        LIMIT 1
    ) AS waiting ON true
    WHERE b.until IS NULL OR b.plan <= b.until
),
repeated AS (
    INSERT INTO :table (parent, plan, origin, state, start, stop, error, :copied)
    SELECT
        t.id,
        f.plan,
        f.origin,
        (CASE WHEN f.other IS NULL THEN 'PLAN' ELSE 'GONE' END)::text:::state,
        CASE WHEN f.other IS NOT NULL THEN statement_timestamp() END,
        CASE WHEN f.other IS NOT NULL THEN statement_timestamp() END,
        'ERROR:  superseded by task ' || f.other,
        :copied_of_t
    FROM followed AS f
    JOIN :table AS t USING (id)
    WHERE NOT f.carried
    ON CONFLICT DO NOTHING -- another task has come to wait for the key
    RETURNING id, parent, wait_key
)
UPDATE :table AS t
SET
    next = n.id,
    notice = CASE
        WHEN n.id IS NULL AND t.key IS NOT NULL THEN concat_ws(E'\n', t.notice, 'WARNING:  task not repeated, as another one waits with its key')
        ELSE t.notice
    END
FROM (
    SELECT f.id AS parent, CASE WHEN f.carried THEN f.other ELSE coalesce(own.id, same.id) END AS id
    FROM followed AS f
    LEFT JOIN repeated AS own ON own.parent = f.id
    LEFT JOIN repeated AS same ON same.wait_key = f.key
) AS n
WHERE t.id = n.parent
RETURNING t.id
