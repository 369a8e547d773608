-- The values that jobs name, read as the types of their columns and written as the server writes them.
-- $1 a JSON object for each job
SELECT ARRAY[:texts]::pg_catalog.text[]
FROM pg_catalog.unnest($1::pg_catalog.text[]) WITH ORDINALITY AS j (job, place)
CROSS JOIN LATERAL pg_catalog.jsonb_to_record(j.job::pg_catalog.jsonb) AS r (:typed)
ORDER BY j.place
