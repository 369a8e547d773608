-- A page of tasks. Parameters: sql/part/page_due.sql.
SELECT
    :page_task
:page_due
