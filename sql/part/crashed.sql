-- When the server has crashed last: then it resets its statistics. A person may have reset one of
-- them.
least(
    (SELECT b.stats_reset FROM pg_stat_bgwriter AS b),
    (SELECT a.stats_reset FROM pg_stat_archiver AS a)
)
