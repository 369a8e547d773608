-- Where pg_cron's jobs are, and what it goes by. A relation of that name that is not the extension's is anybody's: to read it could run what they have made.
SELECT
    EXISTS (
        SELECT
        FROM pg_catalog.pg_depend AS d
        JOIN pg_catalog.pg_extension AS e ON e.oid OPERATOR(pg_catalog.=) d.refobjid AND e.extname OPERATOR(pg_catalog.=) 'pg_cron'
        WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid
            AND d.objid OPERATOR(pg_catalog.=) pg_catalog.to_regclass('cron.job')::pg_catalog.oid
            AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid
            AND d.deptype OPERATOR(pg_catalog.=) 'e'
    ),
    coalesce(pg_catalog.current_setting('cron.timezone', true), ''),
    coalesce((SELECT s.setting FROM pg_catalog.pg_settings AS s WHERE s.name OPERATOR(pg_catalog.=) 'cron.host'), ''), -- shown to few
    pg_catalog.current_setting('port')::pg_catalog.int4,
    pg_catalog.current_database()::pg_catalog.text,
    current_user::pg_catalog.text;
