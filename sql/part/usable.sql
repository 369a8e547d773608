-- What pg_has_role is asked for where a membership counts that is of any use: since 16 it has
-- options, and may give no rights at all.
CASE WHEN current_setting('server_version_num')::int4 < 160000 THEN 'MEMBER' ELSE 'USAGE, SET' END
