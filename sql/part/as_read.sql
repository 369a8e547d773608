-- Whether the row t is still as it was read for e, or as the mark of this run left it.
(t.state = 'PLAN' AND t.xmin = e.version OR t.state = 'WORK' AND t.pid = e.pid AND t.xact IS NULL)
