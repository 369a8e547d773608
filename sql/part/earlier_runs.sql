-- The last runs of the task t, at most 19, so that the caller can add one.
CASE
    WHEN jsonb_typeof(t.runs) <> 'array' THEN '[]'
    WHEN jsonb_array_length(t.runs) >= 20 THEN t.runs - 0
    ELSE coalesce(t.runs, '[]')
END
