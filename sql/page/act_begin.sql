-- Begins an act on many tasks.
-- $1 user, $2 what, $3 the filter, $4 data, $5 how many match, $6 the highest id, $7 when that was, $8 the
-- least id
INSERT INTO :its_act (by, "do", filter, data, matched, upto, position, at, least)
VALUES ($1::text, $2::text, $3::jsonb, $4::text, $5::int8, $6::int8, $6::int8, $7::timestamptz, $8::int8)
RETURNING id
