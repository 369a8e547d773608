-- The tasks that pass the filter, newest first. Parameters: sql/part/page_newest.sql.
SELECT
    :task,
    :page_late
:page_newest
