-- The earliest plan that is still to come, and what a session that is open must not miss: the settings of databases and roles.
SELECT
    pg_catalog.clock_timestamp(),
    (SELECT min(t.due) FROM :table AS t WHERE t.due IS NOT NULL AND t.due > statement_timestamp() AND t.due < 'infinity'),
    (SELECT EXISTS (SELECT FROM pg_catalog.pg_foreign_server))
