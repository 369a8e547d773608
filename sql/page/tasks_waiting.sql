-- A page of tasks. Parameters: sql/part/page_waiting.sql.
SELECT
    :page_task
:page_waiting
