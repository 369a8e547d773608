-- Ends a task that would wait again, but whose key another one waits for now; if none does any
-- more, it changes nothing. If it repeats itself, that goes on as the key has it: see repeat.sql.
-- $1 id, $2 version of the row that was read, $3 pid of the session, $4 error of the run that was
-- to be tried again, $5 whether to say nothing
UPDATE :table AS t
SET
    state = 'GONE',
    start = coalesce(t.start, pg_catalog.statement_timestamp()),
    stop = pg_catalog.statement_timestamp(),
    error = CASE WHEN $5::pg_catalog.bool THEN t.error ELSE 'ERROR:  superseded by task ' OPERATOR(pg_catalog.||) w.id::pg_catalog.text
        OPERATOR(pg_catalog.||) coalesce(E'\nDETAIL:  ' OPERATOR(pg_catalog.||) pg_catalog.replace($4, E'\n', E'\n\t'), '') END
FROM :table AS w
WHERE t.id OPERATOR(pg_catalog.=) $1::pg_catalog.int8
    AND t.key IS NOT NULL
    AND w.wait_key OPERATOR(pg_catalog.=) t.key
    AND w.id OPERATOR(pg_catalog.<>) t.id
    AND (
        t.state OPERATOR(pg_catalog.=) 'PLAN' AND t.xmin OPERATOR(pg_catalog.=) $2::pg_catalog.int4
        OR t.state OPERATOR(pg_catalog.=) ANY ('{TAKE,WORK}') AND ($3::pg_catalog.int4 OPERATOR(pg_catalog.=) 0 OR t.pid OPERATOR(pg_catalog.=) $3::pg_catalog.int4)
    )
RETURNING
    t.id,
    :followed,
    :last_words
