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
        coalesce(t.stop, pg_catalog.statement_timestamp()) AS stop,
        coalesce(t.base, t.plan) AS base,
        t.origin,
        t.until,
        (pg_catalog.date_part('year', t.repeat) OPERATOR(pg_catalog.*) 31556952)
            OPERATOR(pg_catalog.+) (pg_catalog.date_part('month', t.repeat) OPERATOR(pg_catalog.*) 2629746)
            OPERATOR(pg_catalog.+) (pg_catalog.date_part('day', t.repeat) OPERATOR(pg_catalog.*) 86400)
            OPERATOR(pg_catalog.+) (pg_catalog.date_part('hour', t.repeat) OPERATOR(pg_catalog.*) 3600)
            OPERATOR(pg_catalog.+) (pg_catalog.date_part('minute', t.repeat) OPERATOR(pg_catalog.*) 60)
            OPERATOR(pg_catalog.+) pg_catalog.date_part('second', t.repeat) AS period
    FROM :table AS t
    WHERE t.id OPERATOR(pg_catalog.=) ANY ($1)
        AND t.state OPERATOR(pg_catalog.=) ANY ('{DONE,FAIL,GONE}')
        AND t.next IS NULL
        AND t.repeat OPERATOR(pg_catalog.>) '0'
),
chain AS MATERIALIZED (
    SELECT
        e.*,
        CASE WHEN EXISTS (
            SELECT
            FROM pg_catalog.generate_series(-3, 3) AS near
            WHERE e.base OPERATOR(pg_catalog.=) (
                    e.origin
                    OPERATOR(pg_catalog.+) (e.repeat OPERATOR(pg_catalog.*) greatest(
                        0,
                        pg_catalog.floor(pg_catalog.date_part('epoch', e.base OPERATOR(pg_catalog.-) e.origin) OPERATOR(pg_catalog./) e.period)
                            OPERATOR(pg_catalog.+) near
                    ))
                )
        ) THEN e.origin ELSE e.base END AS counted
    FROM ended AS e
),
beat AS MATERIALIZED (
    SELECT
        c.id,
        CASE
            WHEN c.drift THEN c.stop OPERATOR(pg_catalog.+) c.repeat
            ELSE coalesce(first.plan, pg_catalog.statement_timestamp() OPERATOR(pg_catalog.+) c.repeat)
        END AS plan,
        CASE WHEN NOT c.drift AND pg_catalog.date_trunc('month', c.repeat) OPERATOR(pg_catalog.>) '0' THEN c.counted END AS origin,
        c.until
    FROM chain AS c
    CROSS JOIN LATERAL (
        SELECT pg_catalog.min(candidate.plan) AS plan
        FROM pg_catalog.generate_series(-3, 3) AS near
        CROSS JOIN LATERAL (
            SELECT c.counted
                OPERATOR(pg_catalog.+) (c.repeat OPERATOR(pg_catalog.*) greatest(
                    1,
                    pg_catalog.floor(
                        pg_catalog.date_part('epoch', pg_catalog.statement_timestamp() OPERATOR(pg_catalog.-) c.counted)
                        OPERATOR(pg_catalog./) c.period
                    ) OPERATOR(pg_catalog.+) near
                )) AS plan
        ) AS candidate
        WHERE candidate.plan OPERATOR(pg_catalog.>) pg_catalog.statement_timestamp()
    ) AS first
),
followed AS MATERIALIZED (
    SELECT b.id, b.plan, b.origin, t.key, waiting.id AS other, coalesce(waiting.repeats, false) AS carried
    FROM beat AS b
    JOIN :table AS t ON t.id OPERATOR(pg_catalog.=) b.id
    LEFT JOIN LATERAL (
        SELECT w.id, w.repeat OPERATOR(pg_catalog.>) '0' OR w.cron IS NOT NULL AS repeats
        FROM :table AS w
        WHERE t.key IS NOT NULL -- else a partitioned table, which has no index for this, would be read
            AND w.wait_key OPERATOR(pg_catalog.=) t.key
        LIMIT 1
    ) AS waiting ON true
    WHERE b.until IS NULL
        OR b.plan OPERATOR(pg_catalog.<=) b.until
),
repeated AS (
    INSERT INTO :table (parent, plan, origin, state, start, stop, error, :copied)
    SELECT
        t.id,
        f.plan,
        f.origin,
        (CASE WHEN f.other IS NULL THEN 'PLAN' ELSE 'GONE' END)::pg_catalog.text:::state,
        CASE WHEN f.other IS NOT NULL THEN pg_catalog.statement_timestamp() END,
        CASE WHEN f.other IS NOT NULL THEN pg_catalog.statement_timestamp() END,
        'ERROR:  superseded by task ' OPERATOR(pg_catalog.||) f.other,
        :copied_of_t
    FROM followed AS f
    JOIN :table AS t ON t.id OPERATOR(pg_catalog.=) f.id
    WHERE NOT f.carried
    ON CONFLICT DO NOTHING -- another task has come to wait for the key
    RETURNING id, parent, wait_key
)
UPDATE :table AS t
SET
    next = n.id,
    notice = CASE
        WHEN n.id IS NULL AND t.key IS NOT NULL
            THEN pg_catalog.concat_ws(E'\n', t.notice, 'WARNING:  task not repeated, as another one waits with its key')
        ELSE t.notice
    END
FROM (
    SELECT f.id AS parent, CASE WHEN f.carried THEN f.other ELSE coalesce(own.id, same.id) END AS id
    FROM followed AS f
    LEFT JOIN repeated AS own ON own.parent OPERATOR(pg_catalog.=) f.id
    LEFT JOIN repeated AS same ON same.wait_key OPERATOR(pg_catalog.=) f.key
) AS n
WHERE t.id OPERATOR(pg_catalog.=) n.parent
RETURNING t.id
