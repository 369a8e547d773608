-- The rows of the table of groups, and the groups of due tasks, by name. A row for a prefix counts
-- the tasks of all its groups.
-- $1 most due tasks to look at, $2 group (NULL: all), $3 group after which they begin (NULL: the
-- first), $4 most rows
WITH due AS MATERIALIZED (
    (
        SELECT t."group"::text AS "group", t.state = 'PLAN' AS waits
        FROM :table AS t
        WHERE t.due <= statement_timestamp()
        ORDER BY t.due, t.id
        LIMIT $1::int8
    )
    UNION ALL
    (
        SELECT t."group"::text, false
        FROM :table AS t
        WHERE :stopping
        LIMIT $1::int8
    )
),
counted AS MATERIALIZED (
    SELECT d."group", count(*) FILTER (WHERE d.waits) AS waiting, count(*) FILTER (WHERE NOT d.waits) AS running
    FROM due AS d
    GROUP BY d."group"
),
shown AS MATERIALIZED (
    SELECT n."group"
    FROM (
        SELECT g."group"
        FROM :its_group AS g
        UNION
        SELECT c."group"
        FROM counted AS c
    ) AS n
    WHERE coalesce(n."group" = $2::text, true)
        AND coalesce(n."group" > $3::text, true)
    ORDER BY n."group"
    LIMIT $4::int8
),
pausing AS MATERIALIZED (
    SELECT g."group"
    FROM :its_group AS g
    WHERE g.paused
        AND coalesce(g.until > statement_timestamp(), true)
        AND right(g."group", 1) = '%'
)
SELECT
    s."group",
    g.paused,
    g.until,
    g.slots,
    g.rate,
    g.per::text AS per,
    g.note,
    g.changed_by,
    g.changed_at,
    g.paused IS TRUE AND coalesce(g.until > statement_timestamp(), true) AS in_force,
    (
        SELECT min(o."group")
        FROM pausing AS o
        WHERE o."group" <> s."group"
            AND starts_with(s."group", "left"(o."group", -1))
    ) AS paused_by,
    coalesce(p.waiting, c.waiting, 0) AS waiting,
    coalesce(p.running, c.running, 0) AS running,
    (SELECT count(*) FROM due) >= $1::int8 AS more
FROM shown AS s
LEFT JOIN :its_group AS g ON g."group" = s."group"
LEFT JOIN counted AS c ON c."group" = s."group"
LEFT JOIN LATERAL (
    SELECT sum(o.waiting)::int8 AS waiting, sum(o.running)::int8 AS running
    FROM counted AS o
    WHERE g."group" IS NOT NULL
        AND right(s."group", 1) = '%'
        AND starts_with(o."group", "left"(s."group", -1))
) AS p ON true
ORDER BY s."group"
