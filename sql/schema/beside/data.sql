-- The running task's data.
CREATE OR REPLACE FUNCTION :its_data() RETURNS jsonb LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT nullif(current_setting('pg_task.data', true), '')::jsonb;
$$;
COMMENT ON FUNCTION :its_data() IS 'Data of the running task (:made)';
