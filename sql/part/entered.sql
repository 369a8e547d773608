-- Sets the columns of the row t from the entry e of the ledger.
state = CASE WHEN e.what IN ('d', 's') THEN 'DONE' WHEN true THEN 'WORK' ELSE t.state END,
start = e.start,
xact = CASE WHEN e.what IN ('p', 'c') THEN e.xact END,
xact_at = CASE WHEN e.what IN ('p', 'c') THEN e.xact_at END,
pid = CASE WHEN e.what <> 'p' THEN e.pid WHEN t.state = 'WORK' THEN t.pid END,
output = CASE WHEN e.what IN ('p', 'd') THEN e.output ELSE t.output END,
error = CASE WHEN e.what NOT IN ('d', 's') THEN t.error END,
sqlstate = CASE WHEN e.what NOT IN ('d', 's') THEN t.sqlstate END,
notice = CASE WHEN e.what IN ('p', 'd') THEN e.notice WHEN e.what = 'c' THEN :output_lost ELSE t.notice END,
atomic = e.atomic,
attempt = :attempt,
stopping = CASE WHEN e.what NOT IN ('d', 's') THEN t.stopping END,
stop = e.stop
