-- Whether the task of the row t can run again: it has ended.
(t.state = ANY ('{DONE,FAIL,GONE}') OR t.state = 'STOP' AND t.stop IS NOT NULL)
