SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1),
    pg_catalog.current_setting('server_version_num')::pg_catalog.int4;
