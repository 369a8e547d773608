-- Where the table was led last, as the leader has written it, and when; whether any controller has
-- been there; whether the oldest task is from before that. A table of controllers of an earlier
-- version has no column place, and a table that somebody has just made again no column created.
SELECT
    coalesce(p.place, ''),
    coalesce(date_trunc('second', p.seen)::text, ''),
    EXISTS (SELECT FROM :leader),
    coalesce((
        SELECT (to_jsonb(t) ->> 'created')::timestamptz < p.seen
        FROM :table AS t
        ORDER BY t.id
        LIMIT 1
    ), false)
FROM (VALUES (true)) AS one (row)
LEFT JOIN LATERAL (
    SELECT to_jsonb(l) ->> 'place' AS place, l.seen
    FROM :leader AS l
    WHERE (to_jsonb(l) ->> 'place') IS NOT NULL
    ORDER BY l.seen DESC
    LIMIT 1
) AS p ON true
