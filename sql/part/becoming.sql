-- What pg_has_role is asked for where who is meant can become the role: since 16 a membership may
-- give its privileges alone, without its attributes, and without what only the role itself may do.
CASE WHEN current_setting('server_version_num')::int4 < 160000 THEN 'MEMBER' ELSE 'SET' END
