-- What pg_timetable's chains go by here.
SELECT
    pg_catalog.current_setting('TimeZone'),
    current_user::pg_catalog.text,
    pg_catalog.statement_timestamp()
