-- Which of these rows nobody has locked. Of several with one id all must be free.
-- $1 ids
SELECT l.id
FROM unnest($1::int8[]) AS l (id)
CROSS JOIN LATERAL (
    SELECT count(*) AS n
    FROM (
        SELECT
        FROM :table AS w
        WHERE w.id >= l.id
            AND w.id <= l.id
        ORDER BY w.id
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS t
) AS free
WHERE free.n > 0
    AND free.n = (
        SELECT count(*)
        FROM (
            SELECT
            FROM :table AS w
            WHERE w.id >= l.id
                AND w.id <= l.id
            ORDER BY w.id
        ) AS t
    )
