-- The newest tasks, oldest first. Infinite times are NULL.
-- $1 the last id before the demo, $2 most tasks, $3 most characters of a text
SELECT
    t.id,
    coalesce(t.parent, 0),
    t."group",
    t.state::text,
    CASE WHEN isfinite(t.plan) THEN t.plan END,
    CASE WHEN isfinite(t.created) THEN t.created END,
    CASE WHEN isfinite(t.start) THEN t.start END,
    CASE WHEN isfinite(t.stop) THEN t.stop END,
    t.repeat > '0',
    left(t.input, $3),
    left(coalesce(t.output, ''), $3),
    left(coalesce(t.error, ''), $3),
    left(coalesce(t.notice, ''), $3),
    clock_timestamp()
FROM (
    SELECT *
    FROM public.task
    WHERE id > $1
    ORDER BY id DESC
    LIMIT $2
) AS t
ORDER BY t.id
