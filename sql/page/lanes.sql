-- Runs: those of the newest rows, what runs of the tasks that are due first, and tasks that are
-- planned for the time after now. The names of groups may be long, and the rows are many.
-- $1 how many of the newest rows, and of the due ones, to look at; $2 how long after now; $3 how
-- many planned tasks to look at
(
    SELECT n.id, n.key, "left"(n."group", 1000) AS "group", n.state::text AS state, n.start, n.stop, n.plan, false AS repeats
    FROM (
        SELECT t.id, t.key, t."group", t.state, t.start, t.stop, t.plan
        FROM :table AS t
        ORDER BY t.id DESC
        LIMIT $1::int8
    ) AS n
    WHERE n.start IS NOT NULL
)
UNION
(
    SELECT d.id, d.key, "left"(d."group", 1000), d.state::text, d.start, d.stop, d.plan, false
    FROM (
        SELECT t.id, t.key, t."group", t.state, t.start, t.stop, t.plan
        FROM :table AS t
        WHERE t.due <= statement_timestamp()
        ORDER BY t.due, t.id
        LIMIT $1::int8
    ) AS d
    WHERE d.state IN ('TAKE', 'WORK') AND d.start IS NOT NULL
)
UNION ALL
(
    SELECT p.id, p.key, "left"(p."group", 1000), p.state::text, NULL, NULL, p.due, p.repeats
    FROM (
        SELECT t.id, t.key, t."group", t.state, t.due, t.repeat > '0' OR t.cron IS NOT NULL AS repeats
        FROM :table AS t
        WHERE t.due > statement_timestamp()
            AND t.due <= statement_timestamp() + $2::interval
        ORDER BY t.due, t.id
        LIMIT $3::int8
    ) AS p
    WHERE p.state = 'PLAN'
)
