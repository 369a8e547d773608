-- Whether the task of the row t has ended: nothing but somebody's PLAN makes it run again.
t.state = ANY ('{DONE,FAIL,GONE}') OR t.state = 'STOP' AND t.stop IS NOT NULL AND t.stopping IS NULL
