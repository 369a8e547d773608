-- The tasks that run or are being stopped, longest first, each with its session and its wait. usual
-- is the time, in seconds, in which 95 % of the runs with its key ended well, else of those of its
-- group, among the newest rows. Statements of other roles may be hidden from ours.
-- $1 most due tasks to look at, $2 newest rows to compare with, $3 whether the input is hidden, $4
-- most rows
WITH due AS MATERIALIZED (
    SELECT t.id, t.state, t."group", t.key, t.start, t.pid, t.remote
    FROM :table AS t
    WHERE t.due <= statement_timestamp()
    ORDER BY t.due, t.id
    LIMIT $1::int8
),
open AS MATERIALIZED (
    SELECT
        r.id::int8 AS id,
        textin(enum_out(r.state)) AS state,
        r."group"::text AS "group",
        r.key::text AS key,
        r.start::timestamptz AS since,
        r.pid::int4 AS pid,
        r.remote IS NOT NULL AS remote
    FROM (
        SELECT d.*
        FROM due AS d
        WHERE d.state IN ('TAKE', 'WORK')
        UNION ALL
        (
            SELECT t.id, t.state, t."group", t.key, t.start, t.pid, t.remote
            FROM :table AS t
            WHERE :stopping
            LIMIT $4::int8
        )
    ) AS r
    ORDER BY r.start, r.id
    LIMIT $4::int8
),
ended AS MATERIALIZED (
    SELECT n.key::text AS key, n."group"::text AS "group", date_part('epoch', n.stop - n.start) AS took
    FROM (
        SELECT t.key, t."group", t.state, t.start, t.stop
        FROM :table AS t
        ORDER BY t.id DESC
        LIMIT $2::int8
    ) AS n
    WHERE n.state = 'DONE'
        AND n.start <= n.stop
),
by_key AS MATERIALIZED (
    SELECT e.key, percentile_cont(0.95) WITHIN GROUP (ORDER BY e.took) AS usual
    FROM ended AS e
    WHERE e.key IN (SELECT o.key FROM open AS o)
    GROUP BY e.key
),
by_group AS MATERIALIZED (
    SELECT e."group", percentile_cont(0.95) WITHIN GROUP (ORDER BY e.took) AS usual
    FROM ended AS e
    WHERE e."group" IN (SELECT o."group" FROM open AS o)
    GROUP BY e."group"
)
SELECT
    o.id,
    o.state,
    o."group",
    o.key,
    o.since,
    date_part('epoch', statement_timestamp() - o.since) AS seconds,
    o.pid,
    o.remote,
    a.wait_event_type,
    a.wait_event,
    -- only who waits for a lock can be blocked; we may not be allowed to see whether it does
    CASE WHEN coalesce(a.wait_event_type = 'Lock', a.pid IS NOT NULL AND a.query = '<insufficient privilege>') THEN nullif(pg_blocking_pids(o.pid), '{}') END AS blocked_by,
    CASE WHEN NOT $3::bool THEN nullif(left(a.query, 10000), '<insufficient privilege>') END AS query,
    coalesce(k.usual, g.usual) AS usual_p95,
    coalesce(date_part('epoch', statement_timestamp() - o.since) > coalesce(k.usual, g.usual), false) AS over,
    (SELECT count(*) FROM due) >= $1::int8 AS more
FROM open AS o
LEFT JOIN LATERAL pg_stat_get_activity(o.pid) AS a ON NOT o.remote AND o.pid IS NOT NULL AND a.backend_start <= o.since
LEFT JOIN by_key AS k ON k.key = o.key
LEFT JOIN by_group AS g ON g."group" = o."group"
ORDER BY o.since, o.id
