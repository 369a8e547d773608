-- Writes into a task that our transaction has ended why it is not repeated.
-- $1 id, $2 why, $3 the SQLSTATE, for a task that has no error of its own
UPDATE :table AS t
SET
    error = concat_ws(E'\n', t.error, $2::text),
    sqlstate = CASE WHEN t.error IS NULL THEN $3::text ELSE t.sqlstate END
WHERE t.id = $1::int8
    AND :written
