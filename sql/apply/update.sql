-- Gives a row of a job other values, and an owner.
-- $1 columns that change as a JSON object, $2 owner, $3 id
UPDATE :table AS t
SET owner = $2, :assigned
FROM jsonb_to_record($1::jsonb) AS r (:typed)
WHERE t.id = $3
RETURNING t.id
