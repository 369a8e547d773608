-- The jobs: of each key and of each repeating chain, the task that waits, is paused or runs; if
-- there is none, the newest task of a key, or the last task of a chain that ended in trouble. The
-- most troubled come first.
-- $1 most candidates of each kind, $2 how many of the newest rows to look at, $3 most jobs
WITH newest AS MATERIALIZED (
    SELECT
        t.id,
        t.key,
        (t.repeat > '0' OR t.cron IS NOT NULL)
            AND t.next IS NULL
            AND t.stop IS NOT NULL
            AND (t.state <> 'DONE' OR t.error IS NOT NULL) AS broken
    FROM :table AS t
    ORDER BY t.id DESC
    LIMIT $2::int8
),
due AS (
    SELECT t.id, t.key, t.state
    FROM :table AS t
    WHERE t.due <= statement_timestamp()
    ORDER BY t.due, t.id
    LIMIT $2::int8
),
candidates AS (
    (
        SELECT t.id
        FROM :table AS t
        WHERE t.stop IS NULL
            AND (t.repeat > '00:00:00'::interval OR t.cron IS NOT NULL)
            AND (t.next IS NULL OR NOT EXISTS (SELECT FROM :table AS n WHERE n.id = t.next AND n.stop IS NULL))
        ORDER BY t.id
        LIMIT $1::int8
    )
    UNION
    (
        SELECT t.id
        FROM :table AS t
        WHERE t.wait_key IS NOT NULL
        ORDER BY t.wait_key
        LIMIT $1::int8
    )
    UNION
    (SELECT d.id FROM due AS d WHERE d.state IN ('TAKE', 'WORK') AND d.key IS NOT NULL)
    UNION
    (SELECT max(n.id) FROM newest AS n WHERE n.key IS NOT NULL GROUP BY n.key)
    UNION
    (SELECT n.id FROM newest AS n WHERE n.broken AND n.key IS NULL)
),
heads AS (
    SELECT
        t.id,
        w.late,
        row_number() OVER (
            PARTITION BY t.key, CASE WHEN t.key IS NULL THEN t.id END
            ORDER BY t.wait_key IS NULL, t.stop IS NOT NULL, t.id DESC
        ) AS nth,
        row_number() OVER (
            ORDER BY
                t.stop IS NULL AND t.failures > 0 OR t.state <> 'STOP' AND t.error IS NOT NULL DESC,
                w.late > 0 DESC,
                t.state = 'STOP' AND t.stop IS NULL DESC,
                t.stop IS NOT NULL,
                t.repeat > '0' OR t.cron IS NOT NULL DESC,
                t.plan,
                t.id
        ) AS place
    FROM candidates AS c
    JOIN :table AS t ON t.id = c.id
    CROSS JOIN LATERAL (
        SELECT coalesce(CASE
            WHEN t.state = 'PLAN' AND t.due <= statement_timestamp()
                THEN date_part('epoch', statement_timestamp() - greatest(t.due, least(t.plan, statement_timestamp())))
        END, 0) AS late
    ) AS w
)
SELECT
    t.id,
    t.key,
    "left"(t."group", 1000) AS "group",
    t.state::text AS state,
    t.cron,
    t.repeat,
    t.repeat::text AS period,
    t.drift,
    t.overlap AS overlap,
    t.until,
    coalesce(t.base, t.plan) AS beat,
    CASE WHEN t.state = 'PLAN' AND (t.cron IS NULL OR t.origin IS NULL) THEN t.plan END AS next_run,
    t.state = 'STOP' AND t.stop IS NULL AND t.stopping IS NOT TRUE AS paused,
    t.state = 'STOP' AND t.stop IS NULL AND t.max_failures > 0 AND t.failures >= t.max_failures AS gave_up,
    t.stop IS NOT NULL AS ended,
    h.late,
    t.failures,
    left(split_part(t.error, E'\n', 1), 1000) AS error,
    t.runs,
    (SELECT count(*) FROM newest) >= $2::int8 AS larger
FROM heads AS h
JOIN :table AS t ON t.id = h.id
WHERE h.nth = 1
ORDER BY h.place
LIMIT $3::int8
