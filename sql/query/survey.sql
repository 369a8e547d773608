-- What the metrics show of the table: for how many seconds the oldest due task has been due that
-- does not run; how many tasks wait for a later plan, or for others; the size of the table, its
-- indexes and its partitions, in bytes; and how many of their rows are dead.
-- $1 schema, $2 table, $3 most tasks that are counted
WITH RECURSIVE parts AS (
    SELECT c.oid
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    WHERE n.nspname OPERATOR(pg_catalog.=) $1
        AND c.relname OPERATOR(pg_catalog.=) $2
    UNION
    SELECT i.inhrelid
    FROM parts AS p
    JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) p.oid
)
SELECT
    coalesce((
        SELECT pg_catalog.date_part('epoch', pg_catalog.statement_timestamp() OPERATOR(pg_catalog.-) t.due)
        FROM :table AS t
        WHERE t.due IS NOT NULL
            AND t.due OPERATOR(pg_catalog.>) '-infinity'
            AND t.due OPERATOR(pg_catalog.<=) pg_catalog.statement_timestamp()
            AND t.state OPERATOR(pg_catalog.=) 'PLAN'
        ORDER BY t.due, t.id
        LIMIT 1
    ), 0),
    (
        SELECT pg_catalog.count(*)
        FROM (
            SELECT
            FROM :table AS t
            WHERE t.due IS NOT NULL
                AND t.due OPERATOR(pg_catalog.>) pg_catalog.statement_timestamp()
            ORDER BY t.due, t.id
            LIMIT $3
        ) AS later
    ),
    (SELECT coalesce(pg_catalog.sum(pg_catalog.pg_total_relation_size(p.oid::pg_catalog.regclass)), 0)::pg_catalog.int8 FROM parts AS p),
    (SELECT coalesce(pg_catalog.sum(pg_catalog.pg_stat_get_dead_tuples(p.oid)), 0)::pg_catalog.int8 FROM parts AS p)
