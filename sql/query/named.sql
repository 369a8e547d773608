-- Which of these tasks some that wait, or run, name in after: of those that wait, so many from an
-- id on. Returns the last of them, and how many they were.
-- $1 ids, $2 the id after which to look, $3 how many
WITH waiting AS MATERIALIZED (
    SELECT t.id, t.after
    FROM :table AS t
    WHERE t.stop IS NULL
        AND t.after IS NOT NULL
        AND t.id OPERATOR(pg_catalog.>) $2::pg_catalog.int8
    ORDER BY t.id
    LIMIT $3
)
SELECT
    coalesce((SELECT pg_catalog.max(w.id) FROM waiting AS w), $2::pg_catalog.int8),
    (SELECT pg_catalog.count(*) FROM waiting),
    ARRAY(
        SELECT DISTINCT a.id
        FROM waiting AS w
        CROSS JOIN LATERAL pg_catalog.unnest(w.after) AS a (id)
        WHERE a.id OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.int8[])
    )
