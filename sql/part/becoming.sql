-- The privilege that makes pg_has_role tell who can become the role. Since 16 MEMBER does not mean
-- that: a membership may be without SET.
CASE WHEN current_setting('server_version_num')::int4 < 160000 THEN 'MEMBER' ELSE 'SET' END
