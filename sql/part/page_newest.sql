-- The tasks that pass the filter, newest first, in the order of the primary key. If the time is over,
-- the rest are rows that were not looked at.
-- $1 to $9 the filter, $10 how long it may take, $11 and $12 least and greatest id, $13 most rows
FROM :table AS t
WHERE t.id BETWEEN $11::int8 AND $12::int8
    AND CASE WHEN :page_late THEN true ELSE :page_filter END
ORDER BY t.id DESC
LIMIT $13::int8
