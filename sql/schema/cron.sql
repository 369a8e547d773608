-- What is wrong with a cron expression, and where; NULL: nothing is. The leader looks again.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_cron_:hash(pg_catalog.text, pg_catalog.timestamptz) RETURNS pg_catalog.text LANGUAGE plpgsql STABLE SECURITY INVOKER AS $$
BEGIN
    RETURN NULL;
END
$$;
