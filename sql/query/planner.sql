-- Makes the session plan our statements alike, whatever the server, the database or the role has
-- set: rows are found by an index that brings them in the order that is asked for, and joined one
-- by one.
-- $1 names, $2 values
SELECT pg_catalog.set_config(s.name, s.value, false)
FROM ROWS FROM (
    pg_catalog.unnest($1::pg_catalog.text[]),
    pg_catalog.unnest($2::pg_catalog.text[])
) AS s (name, value)
WHERE pg_catalog.current_setting(s.name, true) IS NOT NULL -- older servers lack some
