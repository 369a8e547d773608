-- What is due, waiting or under way, in the order of its plan, from a place in that order on.
-- $1 plan, $2 id (the place), $3 most rows
SELECT
    t.id,
    t."group",
    coalesce(t.remote, ''),
    t.max,
    t.priority,
    t.due,
    t.state = 'PLAN' AS waiting,
    t.state = 'PLAN' AND t.attempt = 0 AND t.active > '0' AND t.max >= 0 AND NOT t.catchup
        AND coalesce(t.base, t.plan) + least(t.active, '10000 years') < statement_timestamp() AS expired
FROM :table AS t
WHERE t.due IS NOT NULL
    AND (t.due, t.id) > ($1, $2)
    AND t.due <= statement_timestamp()
ORDER BY t.due, t.id
LIMIT $3
