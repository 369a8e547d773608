-- How many tasks tasks.sql would find, and whether its time was over before.
SELECT count(CASE WHEN NOT c.late THEN 1 END), coalesce(bool_or(c.late), false)
FROM (
    SELECT :page_late AS late
    :page_newest
) AS c
