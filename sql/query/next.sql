-- The server's time and the earliest plan that is still to come. It is asked many times a second, so it has nothing in it that makes it dear
-- to begin.
SELECT
    pg_catalog.clock_timestamp(),
    (SELECT min(t.due) FROM :table AS t WHERE t.due IS NOT NULL AND t.due > statement_timestamp() AND t.due < 'infinity')
