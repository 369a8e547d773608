-- The earlier runs of the task t, with room for one more.
CASE
    WHEN pg_catalog.jsonb_typeof(t.runs) OPERATOR(pg_catalog.<>) 'array' THEN '[]'
    WHEN pg_catalog.jsonb_array_length(t.runs) OPERATOR(pg_catalog.>=) 20 THEN t.runs OPERATOR(pg_catalog.-) 0
    ELSE coalesce(t.runs, '[]')
END
