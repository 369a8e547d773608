-- The settings that pg_timetable's chains depend on.
SELECT
    current_setting('TimeZone'),
    current_user::text,
    statement_timestamp()
