-- Deletes tasks that have ended with nothing to show, as they ask for; returns those that somebody has locked.
-- $1 ids
WITH empty AS MATERIALIZED (
    SELECT t.id
    FROM :table AS t
    WHERE t.id = ANY ($1)
        AND t.state = 'DONE'
        AND t."delete"
        AND t.output IS NULL
        AND t.error IS NULL
),
locked AS MATERIALIZED (
    SELECT t.id
    FROM empty
    JOIN :table AS t USING (id)
    ORDER BY t.id
    FOR UPDATE OF t SKIP LOCKED
),
deleted AS (
    DELETE FROM :table AS t
    USING locked
    WHERE t.id = locked.id
)
SELECT id FROM empty
EXCEPT ALL
SELECT id FROM locked
