-- The limits of groups. A group comes as in scan; of one that ends in %, what stands before that,
-- as it begins the names in scan.
-- $1 how many rows
SELECT
    CASE WHEN pg_catalog.right(g."group", 1) OPERATOR(pg_catalog.=) '%' THEN :prefix_of_group ELSE :key_of_limit END,
    pg_catalog.right(g."group", 1) OPERATOR(pg_catalog.=) '%',
    g.paused,
    CASE
        WHEN g.until OPERATOR(pg_catalog.=) '-infinity' THEN '2000-01-01 00:00:00+00'
        WHEN g.until OPERATOR(pg_catalog.<) 'infinity' THEN g.until
    END,
    coalesce(g.slots, -1),
    coalesce(g.rate, 0),
    CASE WHEN g.per IS NULL THEN 0 ELSE greatest(pg_catalog.date_part('epoch', g.per) OPERATOR(pg_catalog.*) 1000000, 1)::pg_catalog.int8 END
FROM :groups AS g
LIMIT $1
