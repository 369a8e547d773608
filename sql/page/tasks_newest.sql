-- A page of tasks. Parameters: sql/part/page_newest.sql.
SELECT
    :page_task
:page_newest
