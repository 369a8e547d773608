-- Writes how far an act is.
-- $1 id, $2 position, $3 tasks that were locked, $4 done, $5 failed, $6 error, $7 whether it has ended
UPDATE :its_act AS a
SET
    position = $2::int8,
    missed = nullif($3::int8[], '{}'),
    done = $4::int8,
    failed = $5::int8,
    error = nullif($6::text, ''),
    ended = CASE WHEN $7::bool THEN clock_timestamp() END
WHERE a.id = $1::int8
