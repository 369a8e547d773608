-- Deletes tasks with "delete" that have ended with nothing to show. Returns those that somebody has
-- locked, or changed a moment ago.
-- $1 ids
WITH empty AS MATERIALIZED (
    SELECT l.id, t.part, t.place
    FROM unnest($1::int8[]) AS l (id)
    CROSS JOIN LATERAL (
        SELECT t.tableoid AS part, t.ctid AS place
        FROM :table AS t
        WHERE t.id BETWEEN l.id AND l.id
            AND t.state = 'DONE'
            AND t."delete"
            AND t.output IS NULL
            AND t.error IS NULL
        ORDER BY t.id
    ) AS t
),
locked AS MATERIALIZED (
    SELECT e.id, e.part, e.place
    FROM empty AS e
    CROSS JOIN LATERAL (
        SELECT t.ctid AS place
        FROM :table AS t
        WHERE t.ctid = e.place
            AND t.tableoid = e.part
        FOR UPDATE SKIP LOCKED
    ) AS t
    WHERE t.place = e.place
),
deleted AS (
    DELETE FROM :table AS t
    USING locked AS l
    WHERE t.ctid = l.place
        AND t.tableoid = l.part
)
SELECT id FROM empty
EXCEPT ALL
SELECT id FROM locked
