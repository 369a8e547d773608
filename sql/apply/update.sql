-- Changes columns of a job's row, and sets its owner.
-- $1 the changed columns as a JSON object, $2 owner, $3 id
UPDATE :table AS t
SET owner = $2, :assigned
FROM jsonb_to_record($1::jsonb) AS r (:typed)
WHERE t.id = $3
RETURNING t.id
