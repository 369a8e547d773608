-- Whether the task of the row t has ended: it runs again only if somebody sets it to PLAN.
t.state = ANY ('{DONE,FAIL,GONE}') OR t.state = 'STOP' AND t.stop IS NOT NULL AND t.stopping IS NULL
