-- Writes into the leader's row where the table is, and takes that out of all other rows.
-- $1 controller, $2 the place
UPDATE :leader AS l
SET place = CASE WHEN l.controller = $1::text THEN $2::jsonb END
WHERE l.place IS DISTINCT FROM CASE WHEN l.controller = $1::text THEN $2::jsonb END
