-- Writes where a copy is: it may be led here.
-- $1 the place
WITH placed AS (
    UPDATE :leader AS l
    SET place = $1::jsonb, leads = false
    WHERE l.place IS NOT NULL
    RETURNING l.controller
)
INSERT INTO :leader AS l (controller, leads, since, seen, place)
SELECT 'adopted', false, statement_timestamp(), statement_timestamp(), $1::jsonb
WHERE NOT EXISTS (SELECT FROM placed)
ON CONFLICT (controller) DO UPDATE
SET place = excluded.place
