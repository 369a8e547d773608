-- The limits of groups. Groups come as the keys that scan.sql returns; for a group that ends in %
-- its prefix comes, as the names in scan.sql begin with it.
-- $1 most rows
SELECT
    CASE WHEN right(g."group", 1) = '%' THEN :prefix_of_group ELSE :key_of_limit END,
    right(g."group", 1) = '%',
    g.paused,
    CASE
        WHEN g.until = '-infinity' THEN '2000-01-01 00:00:00+00'
        WHEN g.until < 'infinity' THEN g.until
    END,
    coalesce(g.slots, -1),
    coalesce(g.rate, 0),
    CASE WHEN g.per IS NULL THEN 0 ELSE greatest(date_part('epoch', g.per) * 1000000, 1)::int8 END
FROM :groups AS g
LIMIT $1
