-- Where the table was led last, as the leader has written it, and when; whether any controller has
-- been there; whether the table is empty. A table of controllers of an earlier version has no
-- column place.
SELECT
    coalesce(p.place, ''),
    coalesce(date_trunc('second', p.seen)::text, ''),
    EXISTS (SELECT FROM :leader),
    NOT EXISTS (SELECT FROM :table)
FROM (VALUES (true)) AS one (row)
LEFT JOIN LATERAL (
    SELECT to_jsonb(l) ->> 'place' AS place, l.seen
    FROM :leader AS l
    WHERE (to_jsonb(l) ->> 'place') IS NOT NULL
    ORDER BY l.seen DESC
    LIMIT 1
) AS p ON true
