-- Ends a task that would wait again, but whose key another one waits for now; if none does any
-- more, it changes nothing. If it repeats itself, that goes on as the key has it: see repeat.sql.
-- $1 id, $2 version of the row that was read, $3 pid of the session, $4 error of the run that was
-- to be tried again, $5 whether to say nothing
UPDATE :table AS t
SET
    state = 'GONE',
    start = coalesce(t.start, statement_timestamp()),
    stop = statement_timestamp(),
    error = CASE WHEN $5::bool THEN t.error ELSE 'ERROR:  superseded by task ' || w.id::text
        || coalesce(E'\nDETAIL:  ' || replace($4, E'\n', E'\n\t'), '') END
FROM :table AS w
WHERE t.id = $1::int8
    AND t.key IS NOT NULL
    AND w.wait_key = t.key
    AND w.id <> t.id
    AND (
        t.state = 'PLAN' AND t.xmin = $2::int4
        OR t.state = ANY ('{TAKE,WORK}') AND ($3::int4 = 0 OR t.pid = $3::int4)
    )
RETURNING
    t.id,
    :followed,
    :last_words
