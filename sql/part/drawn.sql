-- An id for the row f from the sequence: the first that is free, since people may have inserted
-- rows with ids of their own. Looks at each id that it draws, so nobody can make it skip more ids
-- than they have taken. NULL: 131,072 in a row are taken, or two seconds have passed; the next draw
-- goes on there.
WITH RECURSIVE drawn AS (
    SELECT NULL::int8 AS id, 1 AS draws, clock_timestamp() AS began
    WHERE f.id IS NOT NULL -- runs once for each f
    UNION ALL
    SELECT free.id, d.draws + least(1024, d.draws), d.began
    FROM drawn AS d
    LEFT JOIN LATERAL (
        SELECT n.id
        FROM (
            SELECT nextval((:sequence)::oid::regclass) AS id
            FROM generate_series(1, least(1024, d.draws))
        ) AS n
        LEFT JOIN LATERAL (SELECT o.id FROM :table AS o WHERE o.id BETWEEN n.id AND n.id ORDER BY o.id LIMIT 1) AS taken ON true
        WHERE taken.id IS NULL
        LIMIT 1 -- draws no more ids than needed
    ) AS free ON true
    WHERE d.id IS NULL
        AND d.draws <= 131072
        AND clock_timestamp() < (d.began + '2 s')
)
SELECT max(r.id) AS id
FROM drawn AS r
