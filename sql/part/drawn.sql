-- An id for the row f: the first one that nobody has taken by hand. Each that is drawn is looked at,
-- so that nobody can have more passed over than they have taken. NULL: 131,072 in a row are, or two
-- seconds have passed; the next draw goes on there.
WITH RECURSIVE drawn AS (
    SELECT NULL::int8 AS id, 1 AS draws, clock_timestamp() AS began
    WHERE f.id IS NOT NULL -- one for each
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
        LIMIT 1 -- no more than that are drawn
    ) AS free ON true
    WHERE d.id IS NULL
        AND d.draws <= 131072
        AND clock_timestamp() < (d.began + '2 s')
)
SELECT max(r.id) AS id
FROM drawn AS r
