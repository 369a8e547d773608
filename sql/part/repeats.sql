-- Whether the task t repeats itself.
(t.repeat OPERATOR(pg_catalog.>) '0' OR t.cron IS NOT NULL)
