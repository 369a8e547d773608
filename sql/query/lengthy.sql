-- Due tasks whose group or remote is long: what scan.sql brings of others.
-- $1 ids
SELECT
    t.id,
    coalesce(:key_of_group, ''),
    :key_of_remote,
    t.max,
    t.priority,
    t.due,
    :expired
FROM pg_catalog.unnest($1::pg_catalog.int8[]) AS l (id)
CROSS JOIN LATERAL ( -- looked up one by one, whatever the statistics say
    SELECT t.id, t."group", t.remote, t.max, t.priority, t.due, t.state, t.attempt, t.active, t.catchup, t.base, t.plan, t.freed
    FROM :table AS t
    WHERE t.id OPERATOR(pg_catalog.>=) l.id
        AND t.id OPERATOR(pg_catalog.<=) l.id
        AND t.due IS NOT NULL
        AND t.due OPERATOR(pg_catalog.<=) pg_catalog.statement_timestamp()
    ORDER BY t.id
) AS t
