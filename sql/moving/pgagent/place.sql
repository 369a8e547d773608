-- The settings that pgAgent's jobs depend on.
SELECT
    current_setting('TimeZone'),
    current_database()::text,
    statement_timestamp()
