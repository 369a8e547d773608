-- Reads the values in job files as their columns' types, and returns them as the server writes
-- them.
-- $1 a JSON object for each job
SELECT ARRAY[:texts]::text[]
FROM unnest($1::text[]) WITH ORDINALITY AS j (job, place)
CROSS JOIN LATERAL jsonb_to_record(j.job::jsonb) AS r (:typed)
ORDER BY j.place
