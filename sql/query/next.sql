-- The server's time and the earliest plan that is still to come. It is asked many times a second,
-- so nothing in it takes long to begin. Not min(): that was planned to read all that
-- is to come, where the table had been empty when it was planned.
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
