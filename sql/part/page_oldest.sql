-- The tasks that pass the filter, oldest first, in the order of the primary key. If the time is over,
-- the rest are rows that were not looked at.
-- $1 to $11 the filter, $12 how long it may take, $13 and $14 least and greatest id, $15 most rows
FROM :table AS t
WHERE t.id BETWEEN $13::int8 AND $14::int8
    AND CASE WHEN :page_late THEN true ELSE :page_filter END
ORDER BY t.id
LIMIT $15::int8
