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
FROM unnest($1::int8[]) AS l (id)
CROSS JOIN LATERAL ( -- looked up one by one, whatever the statistics say
    SELECT t.id, t."group", t.remote, t.max, t.priority, t.due, t.state, t.attempt, t.active, t.catchup, t.base, t.plan, t.freed
    FROM :table AS t
    WHERE t.id >= l.id
        AND t.id <= l.id
        AND t.due IS NOT NULL
        AND t.due <= statement_timestamp()
    ORDER BY t.id
) AS t
