-- Records an act on one task, or on a group, that is done.
-- $1 user, $2 what, $3 the task, $4 the columns of the group, $5 data
INSERT INTO :its_act (by, "do", task, filter, data, matched, done, ended)
VALUES ($1::text, $2::text, $3::int8, $4::jsonb, $5::text, 1, 1, statement_timestamp())
