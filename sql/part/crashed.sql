-- When the server last crashed: recovery sets stats_reset. least() of two, since a person may have
-- reset one of them.
least(
    (SELECT b.stats_reset FROM pg_stat_bgwriter AS b),
    (SELECT a.stats_reset FROM pg_stat_archiver AS a)
)
