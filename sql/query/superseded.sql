-- Ends a task that would wait again, but whose key another one waits for now.
-- $1 id, $2 pid of the controller that took it, $3 pid of the session, $4 error of the run that was to be tried again
UPDATE :table AS t
SET
    state = 'GONE',
    start = coalesce(t.start, statement_timestamp()),
    stop = statement_timestamp(),
    error = 'ERROR:  superseded by task ' || (SELECT w.id FROM :table AS w WHERE w.wait_key = t.key)
        || coalesce(E'\nDETAIL:  ' || replace($4, E'\n', E'\n\t'), '')
WHERE t.id = $1
    AND (t.state = 'TAKE' AND ($2 = 0 OR t.pid = $2) OR t.state = 'WORK' AND ($3 = 0 OR t.pid = $3))
RETURNING t.id
