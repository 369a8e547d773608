-- Where pg_cron's jobs are, and what it goes by. A relation of that name that is not the extension's is anybody's: to read it could run what they have made.
SELECT
    EXISTS (
        SELECT
        FROM pg_depend AS d
        JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'pg_cron'
        WHERE d.classid = 'pg_class'::regclass::oid
            AND d.objid = to_regclass('cron.job')::oid
            AND d.refclassid = 'pg_extension'::regclass::oid
            AND d.deptype = 'e'
    ),
    coalesce(current_setting('cron.timezone', true), ''),
    coalesce((SELECT s.setting FROM pg_settings AS s WHERE s.name = 'cron.host'), ''), -- shown to few
    current_setting('port')::int4,
    current_database()::text,
    current_user::text;
