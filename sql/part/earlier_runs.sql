-- The earlier runs of the task t, with room for one more.
CASE
    WHEN jsonb_typeof(t.runs) <> 'array' THEN '[]'
    WHEN jsonb_array_length(t.runs) >= 20 THEN t.runs - 0
    ELSE coalesce(t.runs, '[]')
END
