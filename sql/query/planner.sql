-- Makes the session plan our statements in the same way, whatever the server, the database or the role
-- has set: rows are found by an index that brings them in the wanted order, and joined one by one.
-- $1 names, $2 values
SELECT set_config(s.name, s.value, false)
FROM ROWS FROM (
    unnest($1::text[]),
    unnest($2::text[])
) AS s (name, value)
WHERE current_setting(s.name, true) IS NOT NULL -- older servers lack some
