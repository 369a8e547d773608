-- Creates the repetitions of tasks that have just ended: at the first base + k * repeat after now, or, with drift, one period after the end.
-- The number of the period is estimated from the average length of months, and is off by one or two at most, as calendars go.
-- Months and days are counted from the origin of the chain: from the 31st of January by way of the 28th of February to the 31st of March, and from half past two by way
-- of a day that has no half past two to the next that has. An origin that does not lead to the task's own beat any more, because somebody has changed plan or repeat,
-- counts no longer.
-- Where another task waits with the key, and repeats itself, the series is that one's already. Where it does not, the repetition is written as one that
-- has been superseded: it keeps all that the series is, for somebody to set it to PLAN.
-- An id that somebody has taken by hand is drawn anew. A conflict that is not the key's is an error, and so is a repetition that has not come about.
-- $1 ids
WITH ended AS MATERIALIZED (
    SELECT
        t.part,
        t.place,
        t.id,
        t.key,
        t.repeat,
        t.drift,
        t.stop,
        t.base,
        t.origin,
        t.until,
        (pg_catalog.date_part('year', t.repeat) OPERATOR(pg_catalog.*) 31556952)
            OPERATOR(pg_catalog.+) (pg_catalog.date_part('month', t.repeat) OPERATOR(pg_catalog.*) 2629746)
            OPERATOR(pg_catalog.+) (pg_catalog.date_part('day', t.repeat) OPERATOR(pg_catalog.*) 86400)
            OPERATOR(pg_catalog.+) (pg_catalog.date_part('hour', t.repeat) OPERATOR(pg_catalog.*) 3600)
            OPERATOR(pg_catalog.+) (pg_catalog.date_part('minute', t.repeat) OPERATOR(pg_catalog.*) 60)
            OPERATOR(pg_catalog.+) pg_catalog.date_part('second', t.repeat) AS period
    FROM pg_catalog.unnest($1::pg_catalog.int8[]) AS l (id)
    CROSS JOIN LATERAL (
        SELECT
            t.tableoid AS part,
            t.ctid AS place,
            t.id,
            t.key,
            t.repeat,
            t.drift,
            coalesce(t.stop, pg_catalog.statement_timestamp()) AS stop,
            coalesce(t.base, t.plan) AS base,
            t.origin,
            t.until
        FROM :table AS t
        WHERE t.id OPERATOR(pg_catalog.>=) l.id
            AND t.id OPERATOR(pg_catalog.<=) l.id
            AND t.state OPERATOR(pg_catalog.=) ANY ('{DONE,FAIL,GONE}')
            AND t.next IS NULL
            AND t.repeat OPERATOR(pg_catalog.>) '0'
        ORDER BY t.id
    ) AS t
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
        c.part,
        c.place,
        c.id,
        c.key,
        CASE
            WHEN c.drift THEN c.stop OPERATOR(pg_catalog.+) c.repeat
            ELSE coalesce(first.plan, pg_catalog.statement_timestamp() OPERATOR(pg_catalog.+) c.repeat)
        END AS plan,
        CASE WHEN NOT c.drift AND pg_catalog.date_trunc('day', c.repeat) OPERATOR(pg_catalog.>) '0' THEN c.counted END AS origin,
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
    SELECT b.part, b.place, b.id, b.plan, b.origin, b.key, waiting.id AS other, coalesce(waiting.repeats, false) AS carried
    FROM beat AS b
    LEFT JOIN LATERAL (
        SELECT w.id, w.repeat OPERATOR(pg_catalog.>) '0' OR w.cron IS NOT NULL AS repeats
        FROM :table AS w
        WHERE b.key IS NOT NULL -- else a partitioned table, which has no index for this, would be read
            AND w.wait_key OPERATOR(pg_catalog.=) b.key
        LIMIT 1
    ) AS waiting ON true
    WHERE b.until IS NULL
        OR b.plan OPERATOR(pg_catalog.<=) b.until
),
repeated AS (
    INSERT INTO :table (:drawn_id parent, plan, origin, state, start, stop, error, :copied)
    OVERRIDING SYSTEM VALUE
    SELECT
        :drawn_id_of_d
        t.id,
        f.plan,
        f.origin,
        (CASE WHEN f.other IS NULL THEN 'PLAN' ELSE 'GONE' END)::pg_catalog.text:::state,
        CASE WHEN f.other IS NOT NULL THEN pg_catalog.statement_timestamp() END,
        CASE WHEN f.other IS NOT NULL THEN pg_catalog.statement_timestamp() END,
        'ERROR:  superseded by task ' OPERATOR(pg_catalog.||) f.other::pg_catalog.text,
        :copied_of_t
    FROM followed AS f
    JOIN :table AS t ON t.ctid OPERATOR(pg_catalog.=) f.place AND t.tableoid OPERATOR(pg_catalog.=) f.part
    LEFT JOIN LATERAL (
        WITH RECURSIVE drawn AS (
            SELECT pg_catalog.nextval((:sequence)::pg_catalog.oid::pg_catalog.regclass) AS id
            WHERE f.id IS NOT NULL -- one for each
            UNION ALL
            SELECT pg_catalog.nextval((:sequence)::pg_catalog.oid::pg_catalog.regclass)
            FROM drawn AS d
            CROSS JOIN LATERAL (SELECT FROM :table AS o WHERE o.id OPERATOR(pg_catalog.>=) d.id AND o.id OPERATOR(pg_catalog.<=) d.id LIMIT 1) AS taken
        )
        SELECT pg_catalog.max(r.id) AS id
        FROM drawn AS r
        LEFT JOIN LATERAL (SELECT o.id FROM :table AS o WHERE o.id OPERATOR(pg_catalog.>=) r.id AND o.id OPERATOR(pg_catalog.<=) r.id LIMIT 1) AS taken ON true
        WHERE taken.id IS NULL
    ) AS d ON (:sequence) OPERATOR(pg_catalog.>) 0
    WHERE NOT f.carried
    :unless_key_waits
    RETURNING id, parent, wait_key
),
linked AS (
    UPDATE :table AS t
    SET next = n.id
    FROM (
        SELECT f.part, f.place, CASE WHEN f.carried THEN f.other ELSE coalesce(own.id, same.id) END AS id
        FROM followed AS f
        LEFT JOIN repeated AS own ON own.parent OPERATOR(pg_catalog.=) f.id
        LEFT JOIN repeated AS same ON same.wait_key OPERATOR(pg_catalog.=) f.key
    ) AS n
    WHERE t.ctid OPERATOR(pg_catalog.=) n.place
        AND t.tableoid OPERATOR(pg_catalog.=) n.part
    RETURNING t.next IS NULL AS left_out, t.key IS NOT NULL AS named
)
-- exec tells these errors by their types.
SELECT
    1::pg_catalog.int2 OPERATOR(pg_catalog./) (NOT EXISTS (SELECT FROM linked AS l WHERE l.left_out AND l.named))::pg_catalog.int4::pg_catalog.int8,
    '0'::pg_catalog.money OPERATOR(pg_catalog./) (NOT EXISTS (SELECT FROM linked AS l WHERE l.left_out))::pg_catalog.int4::pg_catalog.int2
