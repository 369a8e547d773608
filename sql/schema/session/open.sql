DO $body$
BEGIN
    IF pg_catalog.current_setting('server_version_num')::pg_catalog.int4 OPERATOR(pg_catalog.>=) 150000 THEN
        ALTER VIEW :view SET (security_invoker = true);
        GRANT SELECT ON TABLE :view TO PUBLIC;
        GRANT EXECUTE ON FUNCTION :inner TO PUBLIC;
    END IF;
END
$body$;
