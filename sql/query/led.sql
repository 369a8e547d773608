-- Where the table was led, as its leader has written it, and when; whether any controller has been
-- there; whether the oldest task is from before that. There is one such place, the last one, and
-- those that a restore or a subscription has added. A table of controllers of an earlier version
-- has no column place, and a table that somebody has just made again no column created: then these
-- names are those of the row none.
SELECT
    coalesce(p.place::text, ''),
    p.seen,
    EXISTS (SELECT FROM :leader),
    coalesce(o.created < p.seen, false)
FROM (SELECT NULL::jsonb AS place, NULL::timestamptz AS created) AS none
LEFT JOIN LATERAL (
    SELECT place, l.seen
    FROM :leader AS l
    WHERE place IS NOT NULL
    ORDER BY l.seen DESC
    LIMIT 10
) AS p ON true
LEFT JOIN LATERAL (
    SELECT created
    FROM :table AS t
    ORDER BY t.id
    LIMIT 1
) AS o ON true
ORDER BY p.seen DESC
