-- Whether cron.job is pg_cron's, and the settings of pg_cron. If a relation of that name does not
-- belong to the extension, reading it could run other people's code.
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
    coalesce((SELECT s.setting FROM pg_settings AS s WHERE s.name = 'cron.host'), ''), -- few roles may see it
    current_setting('port')::int4,
    current_database()::text,
    current_user::text;
