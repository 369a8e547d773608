-- Whether the page may let the task of the row t run again: it has ended.
(t.state = ANY ('{DONE,FAIL,GONE}') OR t.state = 'STOP' AND t.stop IS NOT NULL)
