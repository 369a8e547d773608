-- Inserts a job.
-- $1 its columns as a JSON object, $2 owner
INSERT INTO :table (owner, :columns)
SELECT $2, :columns
FROM jsonb_to_record($1::jsonb) AS r (:typed)
RETURNING id
