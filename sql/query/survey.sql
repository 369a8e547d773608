-- The table's metrics: for how many seconds the oldest waiting task has been due; how many tasks
-- have a plan in the future, or wait for others; the size of the table with its indexes and
-- partitions, in bytes; how many of their rows are dead; how many jobs are paused by max_failures,
-- and how many by a STOP.
-- $1 most tasks to count, $2 most repeating tasks to look at
WITH RECURSIVE paused AS MATERIALIZED (
    SELECT count(*) AS all, count(*) FILTER (WHERE p.max_failures > 0 AND p.failures >= p.max_failures) AS failed
    FROM (
        SELECT t.state, t.stopping, t.failures, t.max_failures
        FROM :table AS t
        WHERE t.stop IS NULL
            AND (t.repeat > '0' OR t.cron IS NOT NULL)
        ORDER BY t.id
        LIMIT $2
    ) AS p
    WHERE p.state = 'STOP'
        AND p.stopping IS NOT TRUE
),
parts AS (
    SELECT :table_number::oid AS oid
    UNION
    SELECT i.inhrelid
    FROM parts AS p
    JOIN pg_inherits AS i ON i.inhparent = p.oid
)
SELECT
    coalesce((
        SELECT date_part('epoch', statement_timestamp() - t.due)
        FROM :table AS t
        WHERE t.due IS NOT NULL
            AND t.due > '-infinity'
            AND t.due <= statement_timestamp()
            AND t.state = 'PLAN'
        ORDER BY t.due, t.id
        LIMIT 1
    ), 0),
    (
        SELECT count(*)
        FROM (
            SELECT
            FROM :table AS t
            WHERE t.due IS NOT NULL
                AND t.due > statement_timestamp()
            ORDER BY t.due, t.id
            LIMIT $1
        ) AS later
    ),
    (SELECT coalesce(sum(pg_total_relation_size(p.oid::regclass)), 0)::int8 FROM parts AS p),
    (SELECT coalesce(sum(pg_stat_get_dead_tuples(p.oid)), 0)::int8 FROM parts AS p),
    (SELECT p.failed FROM paused AS p),
    (SELECT p.all - p.failed FROM paused AS p)
