SELECT
    EXISTS (SELECT FROM pg_catalog.pg_namespace AS n WHERE n.nspname OPERATOR(pg_catalog.=) $1),
    pg_catalog.current_setting('server_version_num')::pg_catalog.int4;
