-- A page of tasks. Parameters: sql/part/page_oldest.sql.
SELECT
    :page_task
:page_oldest
