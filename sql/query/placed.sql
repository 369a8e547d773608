-- Writes into the leader's row where the table is, and takes that out of all other rows. It changes
-- nothing if that is written already. It follows lead.sql, and has its parameters.
-- $1 controller, $8 the place
UPDATE :leader AS l
SET place = CASE WHEN l.controller = $1::text THEN $8::jsonb END
WHERE l.place IS DISTINCT FROM CASE WHEN l.controller = $1::text THEN $8::jsonb END
