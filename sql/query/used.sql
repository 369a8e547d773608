-- Whether the table has a task, whatever its state, and when the server has crashed last.
SELECT
    EXISTS (SELECT FROM :table),
    :crashed
