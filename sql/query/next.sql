-- The server's time, and the earliest plan still to come. The loop asks this many times a second,
-- so it must be cheap to start. Not min(): if the table was empty when the server planned it, the
-- plan read all tasks to come.
SELECT
    clock_timestamp(),
    (
        SELECT t.due
        FROM :table AS t
        WHERE t.due IS NOT NULL
            AND t.due > statement_timestamp()
            AND t.due < 'infinity'
        ORDER BY t.due, t.id
        LIMIT 1
    )
