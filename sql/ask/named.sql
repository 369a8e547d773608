-- Tasks with these ids.
-- $1 ids
SELECT
    :task,
    false
FROM unnest($1::int8[]) AS l (id)
CROSS JOIN LATERAL (
    SELECT w.*
    FROM :table AS w
    WHERE w.id BETWEEN l.id AND l.id
    ORDER BY w.id
) AS t
