SELECT
    EXISTS (SELECT FROM pg_namespace AS n WHERE n.nspname = $1),
    current_setting('server_version_num')::int4;
