-- The privilege by which pg_has_role tells who can become the role: since 16 a membership may give
-- its privileges alone, without its attributes, and without the role's own rights.
CASE WHEN current_setting('server_version_num')::int4 < 160000 THEN 'MEMBER' ELSE 'SET' END
