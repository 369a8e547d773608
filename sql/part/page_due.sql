-- The same for tasks that wait or run, next due first, in the order of the index on due.
-- $16 and $17 due and id after which they begin
FROM :table AS t
WHERE t.due IS NOT NULL
    AND (t.due, t.id) > ($16::timestamptz, $17::int8)
    AND t.id BETWEEN $13::int8 AND $14::int8
    AND CASE WHEN :page_late THEN true ELSE :page_filter END
ORDER BY t.due, t.id
LIMIT $15::int8
