-- Creates the repetitions of tasks that have just ended: at the first base + k * repeat after now, or, with drift, one period after the end.
-- The number of the period is estimated from the average length of months, and is off by one or two at most, as calendars go.
-- $1 ids
WITH repeated AS (
    INSERT INTO :table (parent, plan, :copied)
    SELECT t.id, beat.plan, :copied_of_t
    FROM :table AS t
    CROSS JOIN LATERAL (
        SELECT
            coalesce(t.base, t.plan) AS base,
            statement_timestamp() AS now,
            extract(year FROM t.repeat) * 31556952.0 + extract(month FROM t.repeat) * 2629746.0 + extract(day FROM t.repeat) * 86400.0
                + extract(hour FROM t.repeat) * 3600.0 + extract(minute FROM t.repeat) * 60.0 + extract(second FROM t.repeat) AS seconds
    ) AS period
    CROSS JOIN LATERAL (
        SELECT CASE WHEN t.drift THEN coalesce(t.stop, period.now) + t.repeat ELSE coalesce(min(candidate.plan), period.now + t.repeat) END AS plan
        FROM generate_series(-3, 3) AS near
        CROSS JOIN LATERAL (
            SELECT period.base + t.repeat * greatest(1, floor(extract(epoch FROM period.now - period.base) / period.seconds) + near)::float8 AS plan
        ) AS candidate
        WHERE candidate.plan > period.now
    ) AS beat
    WHERE t.id = ANY ($1)
        AND t.state IN ('DONE', 'FAIL', 'GONE')
        AND t.next IS NULL
        AND t.repeat > '0'
        AND (t.until IS NULL OR beat.plan <= t.until)
    ON CONFLICT DO NOTHING -- another task waits for the key
    RETURNING id, parent
)
UPDATE :table AS t
SET next = repeated.id
FROM repeated
WHERE t.id = repeated.parent
RETURNING t.id
