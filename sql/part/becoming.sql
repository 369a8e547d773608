-- The privilege that makes pg_has_role tell who can become the role. MEMBER also counts memberships
-- without SET.
CASE WHEN :plain_memberships THEN 'MEMBER' ELSE 'SET' END
