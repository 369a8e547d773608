-- A page of tasks. Parameters: sql/part/page_newest.sql, or another part that takes its place.
SELECT
    :page_task
:page_newest
