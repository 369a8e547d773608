-- Makes the server plan our statements alike in every session, whatever the server, database or
-- role has set: it finds rows by an index that returns them in the wanted order, and joins them one
-- by one.
-- $1 names, $2 values
SELECT set_config(s.name, s.value, false)
FROM ROWS FROM (
    unnest($1::text[]),
    unnest($2::text[])
) AS s (name, value)
WHERE current_setting(s.name, true) IS NOT NULL -- older servers lack some
