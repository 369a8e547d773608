-- Creates the repetitions of tasks that have just ended: at the first base + k * repeat after now, or, with drift, one period after the end.
-- The number of the period is estimated from the average length of months, and is off by one or two at most, as calendars go.
-- Months are counted from the origin of the chain: from the 31st of January by way of the 28th of February to the 31st of March. An origin
-- that does not lead to the task's own beat any more, because somebody has changed plan or repeat, counts no longer.
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
repeated AS (
    INSERT INTO :table (parent, plan, origin, :copied)
    SELECT t.id, b.plan, b.origin, :copied_of_t
    FROM beat AS b
    JOIN :table AS t USING (id)
    WHERE b.until IS NULL OR b.plan <= b.until
    ON CONFLICT DO NOTHING -- another task waits for the key
    RETURNING id, parent
)
UPDATE :table AS t
SET next = repeated.id
FROM repeated
WHERE t.id = repeated.parent
RETURNING t.id
