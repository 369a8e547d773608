-- Changes the row of a group in the table of groups, or makes it.
-- $1 group, $2 paused, $3 until, $4 slots, $5 rate, $6 per, $7 note, $8 the columns that change
INSERT INTO :its_group AS g ("group", paused, until, slots, rate, per, note)
VALUES ($1::text, CASE WHEN 'paused' = ANY ($8::text[]) THEN $2::text::bool ELSE false END, $3::timestamptz, $4::text::int4, $5::text::int4, $6::text::interval, $7::text)
ON CONFLICT ("group") DO UPDATE
SET
    paused = CASE WHEN 'paused' = ANY ($8) THEN excluded.paused ELSE g.paused END,
    until = CASE WHEN 'until' = ANY ($8) THEN excluded.until ELSE g.until END,
    slots = CASE WHEN 'slots' = ANY ($8) THEN excluded.slots ELSE g.slots END,
    rate = CASE WHEN 'rate' = ANY ($8) THEN excluded.rate ELSE g.rate END,
    per = CASE WHEN 'per' = ANY ($8) THEN excluded.per ELSE g.per END,
    note = CASE WHEN 'note' = ANY ($8) THEN excluded.note ELSE g.note END
