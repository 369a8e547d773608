-- What is due, of the tasks that have waited longest: how many wait, how many run, the plan of the
-- oldest that waits and its age; and whether there are more.
-- $1 most tasks that are looked at
SELECT
    pg_catalog.count(CASE WHEN d.state OPERATOR(pg_catalog.=) 'PLAN' THEN 1 END),
    pg_catalog.count(CASE WHEN d.state OPERATOR(pg_catalog.=) 'WORK' THEN 1 END) OPERATOR(pg_catalog.+) (
        SELECT pg_catalog.count(*)
        FROM :table AS t
        WHERE t.due IS NULL -- behind all that is due, in its index
            AND t.stopping
            AND t.state OPERATOR(pg_catalog.=) 'STOP'
            AND t.stop IS NULL
    ),
    pg_catalog.min(CASE WHEN d.state OPERATOR(pg_catalog.=) 'PLAN' THEN d.due END)::pg_catalog.text,
    coalesce(pg_catalog.date_part('epoch', pg_catalog.statement_timestamp() OPERATOR(pg_catalog.-) pg_catalog.min(CASE WHEN d.state OPERATOR(pg_catalog.=) 'PLAN' THEN d.due END)), 0),
    pg_catalog.count(*) OPERATOR(pg_catalog.>=) $1::pg_catalog.int8
FROM (
    SELECT t.state, greatest(t.due, least(t.plan, pg_catalog.statement_timestamp())) AS due -- of what the leader has not looked at yet it is infinite
    FROM :table AS t
    WHERE t.due IS NOT NULL
        AND t.due OPERATOR(pg_catalog.<=) pg_catalog.statement_timestamp()
    ORDER BY t.due, t.id
    LIMIT $1::pg_catalog.int8
) AS d
