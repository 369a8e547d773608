-- What pg_timetable's chains go by here.
SELECT
    current_setting('TimeZone'),
    current_user::text,
    statement_timestamp()
