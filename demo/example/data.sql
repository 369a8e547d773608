-- Parameters: all tasks have the same input and differ only in data.
INSERT INTO task ("group", data, input)
SELECT
    'by data',
    json_build_object('name', name),
    $$SELECT 'dear ' || (current_setting('pg_task.data')::json ->> 'name')$$
FROM unnest(ARRAY['Ada', 'Edgar', 'Grace']) AS name
RETURNING id
