-- The role under which the task t runs, and whether we may log in as it: serves (it is our own),
-- member (we are a member of it), stranger, or why it cannot run its task: superuser (and we are
-- not), login, absent. Then whether it is a superuser, and its oid.
-- A superuser is a member of roles that were granted to it, not of all roles.
,
    t.role,
    CASE WHEN t.role = current_user THEN 'serves' ELSE coalesce((
        SELECT CASE
            WHEN r.rolsuper AND current_setting('is_superuser') <> 'on' THEN 'superuser'
            WHEN NOT r.rolcanlogin OR r.rolconnlimit = 0 THEN 'login'
            WHEN CASE WHEN current_setting('is_superuser') = 'on' THEN EXISTS (
                WITH RECURSIVE above AS (
                    SELECT o.oid
                    FROM pg_roles AS o
                    WHERE o.rolname = current_user
                    UNION
                    SELECT m.roleid
                    FROM above
                    JOIN pg_auth_members AS m ON m.member = above.oid
                    WHERE coalesce((to_jsonb(m) ->> 'set_option')::bool, true) -- not before PostgreSQL 16
                )
                SELECT
                FROM above
                WHERE above.oid = r.oid
            ) ELSE pg_has_role(r.oid, :becoming) END THEN 'member'
            ELSE 'stranger'
        END
        FROM pg_roles AS r
        WHERE r.rolname = t.role
    ), 'absent') END,
    coalesce((
        SELECT r.rolsuper
        FROM pg_roles AS r
        WHERE r.rolname = t.role
    ), false),
    coalesce((
        SELECT r.oid::int8
        FROM pg_roles AS r
        WHERE r.rolname = t.role
    ), 0)
