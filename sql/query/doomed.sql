-- Looks at this many waiting tasks that have after, from an id on. Returns the last id, how
-- many there were, and the tasks that name one that did not end well.
-- $1 tasks that did not end well, $2 the id after which to look, $3 how many
WITH waiting AS MATERIALIZED (
    SELECT t.id, t.after, t.awaits
    FROM :table AS t
    WHERE t.stop IS NULL
        AND t.after IS NOT NULL
        AND t.id > $2::int8
    ORDER BY t.id
    LIMIT $3
)
SELECT
    coalesce(max(w.id), $2::int8),
    count(*),
    array_agg(w.id) FILTER (WHERE w.awaits IS NOT NULL AND (
        -- not a join: this way the server looks ids up in a hash
        SELECT bool_or(a.id = ANY (SELECT i.id FROM unnest($1::int8[]) AS i (id)))
        FROM unnest(w.after) AS a (id)
    ))
FROM waiting AS w
