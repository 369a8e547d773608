-- The ids of tasks that wait or run and are due within two seconds, longest waiting first; which of
-- them run, and since when.
-- $1 most tasks
SELECT t.id, t.state = 'WORK', coalesce(t.start::text, '')
FROM :table AS t
WHERE t.due IS NOT NULL
    AND t.due <= (statement_timestamp() + '2 seconds'::interval)
ORDER BY t.due, t.id
LIMIT $1::int8
