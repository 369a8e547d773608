-- The role that inserts in this session.
SELECT current_user::text
