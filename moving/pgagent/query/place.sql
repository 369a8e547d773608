-- What pgAgent's jobs go by here.
SELECT
    pg_catalog.current_setting('TimeZone'),
    pg_catalog.current_database()::pg_catalog.text,
    pg_catalog.statement_timestamp()
