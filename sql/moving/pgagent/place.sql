-- What pgAgent's jobs go by here.
SELECT
    current_setting('TimeZone'),
    current_database()::text,
    statement_timestamp()
