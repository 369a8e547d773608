-- Whether the table has a task, whatever its state.
SELECT EXISTS (SELECT FROM :table)
