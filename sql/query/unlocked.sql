-- Locks the rows with an id, and tells whether nobody else has locked one.
-- $1 id
SELECT count(*) = (
    SELECT count(*)
    FROM (
        SELECT
        FROM :table AS w
        WHERE w.id BETWEEN $1::int8 AND $1
        ORDER BY w.id
    ) AS t
)
FROM (
    SELECT
    FROM :table AS w
    WHERE w.id BETWEEN $1::int8 AND $1
    ORDER BY w.id
    FOR NO KEY UPDATE SKIP LOCKED
) AS t
