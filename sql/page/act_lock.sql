-- Locks tasks that still pass the filter.
-- $1 to $11 the filter, $12 ids
SELECT t.id
FROM :table AS t
WHERE t.id = ANY ($12::int8[])
    AND :page_filter
FOR UPDATE OF t :if_locked
