-- Whether the page may cancel the task of the row t: it waits, is paused or runs.
(t.state = ANY ('{PLAN,TAKE,WORK}') OR t.state = 'STOP' AND t.stop IS NULL AND t.stopping IS NULL)
