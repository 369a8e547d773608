-- The same by id for few tasks that wait or run: this reads no other tasks.
-- $16 whether the oldest come first, $17 whether those too that are due later, $18 more than the tasks that there are
FROM (
    SELECT d.id, CASE WHEN $16::bool THEN d.id ELSE ~d.id END AS place
    FROM (
        SELECT w.id
        FROM :table AS w
        WHERE w.due IS NOT NULL
            AND w.due <= CASE WHEN $17::bool THEN 'infinity'::timestamptz ELSE statement_timestamp() END
        ORDER BY w.due, w.id
        LIMIT $18::int8
    ) AS d
    ORDER BY place
) AS l
CROSS JOIN LATERAL (
    SELECT o.*
    FROM :table AS o
    WHERE o.id BETWEEN l.id AND l.id
    ORDER BY o.id
    LIMIT 1
) AS t
WHERE l.id BETWEEN $13::int8 AND $14::int8
    AND CASE WHEN :page_late THEN true ELSE :page_filter END
ORDER BY l.place
LIMIT $15::int8
