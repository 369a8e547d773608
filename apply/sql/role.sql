-- The role as which this session inserts.
SELECT current_user::pg_catalog.text
