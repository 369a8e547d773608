-- Tells which of these tasks are named in after by tasks that wait or run. Looks at this many of
-- those after an id; returns the last id and how many there were.
-- $1 ids, $2 the id after which to look, $3 how many
WITH waiting AS MATERIALIZED (
    SELECT t.id, t.after
    FROM :table AS t
    WHERE t.stop IS NULL
        AND t.after IS NOT NULL
        AND t.id > $2::int8
    ORDER BY t.id
    LIMIT $3
)
SELECT
    coalesce((SELECT max(w.id) FROM waiting AS w), $2::int8),
    (SELECT count(*) FROM waiting),
    ARRAY(
        SELECT DISTINCT a.id
        FROM waiting AS w
        CROSS JOIN LATERAL unnest(w.after) AS a (id)
        WHERE a.id = ANY ($1::int8[])
    )
