-- The limits of groups. A group comes as in scan; of one that ends in %, the text before that comes,
-- as the names in scan begin with it.
-- $1 how many rows
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
