-- The role as which this session inserts.
SELECT current_user::text
