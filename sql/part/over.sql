-- Whether the task of the row t has ended: nothing but somebody's PLAN makes it run again.
t.state OPERATOR(pg_catalog.=) ANY ('{DONE,FAIL,GONE}') OR t.state OPERATOR(pg_catalog.=) 'STOP' AND t.stop IS NOT NULL AND t.stopping IS NULL
