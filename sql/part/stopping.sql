-- Whether the task of the row t is being cancelled. These rows come after all due tasks in the
-- index on due.
t.due IS NULL AND t.stopping AND t.state = 'STOP' AND t.stop IS NULL
