-- Deletes tasks that have ended with nothing to show, as they ask for; returns those that somebody has locked.
-- $1 ids
WITH empty AS MATERIALIZED (
    SELECT t.id
    FROM :table AS t
    WHERE t.id OPERATOR(pg_catalog.=) ANY ($1)
        AND t.state OPERATOR(pg_catalog.=) 'DONE'
        AND t."delete"
        AND t.output IS NULL
        AND t.error IS NULL
),
locked AS MATERIALIZED (
    SELECT t.id
    FROM empty AS e
    JOIN :table AS t ON t.id OPERATOR(pg_catalog.=) e.id
    ORDER BY t.id
    FOR UPDATE OF t SKIP LOCKED
),
deleted AS (
    DELETE FROM :table AS t
    USING locked
    WHERE t.id OPERATOR(pg_catalog.=) locked.id
)
SELECT id FROM empty
EXCEPT ALL
SELECT id FROM locked
