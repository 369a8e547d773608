-- The running task's data.
CREATE OR REPLACE FUNCTION :its_data() RETURNS pg_catalog.jsonb LANGUAGE sql STABLE SECURITY INVOKER AS $body$
    SELECT CASE WHEN pg_catalog.current_setting('pg_task.data', true) OPERATOR(pg_catalog.<>) '' THEN pg_catalog.current_setting('pg_task.data', true) END::pg_catalog.jsonb
$body$;
DO $body$
DECLARE
    made pg_catalog.text[] := ARRAY[pg_catalog.concat(:its_data_text, '()')];
    other pg_catalog.text;
BEGIN
    :ours
END
$body$;
COMMENT ON FUNCTION :its_data() IS 'The data of the task that runs in this session, as jsonb (:made)';
