-- Whether the table has a task, whatever its state, and when the server has crashed last: then it resets its statistics.
SELECT
    EXISTS (SELECT FROM :table),
    least( -- a person may have reset one of them
        (SELECT b.stats_reset FROM pg_catalog.pg_stat_bgwriter AS b),
        (SELECT a.stats_reset FROM pg_catalog.pg_stat_archiver AS a)
    )
