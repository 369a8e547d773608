-- The next tasks that an act on many changes, downwards.
-- Parameters: sql/part/page_newest.sql.
SELECT t.id, :page_late AS late
:page_newest
