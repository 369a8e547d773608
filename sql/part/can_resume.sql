-- Whether the page may resume the task of the row t: it is paused.
(t.state = 'STOP' AND t.stop IS NULL AND t.stopping IS NULL)
