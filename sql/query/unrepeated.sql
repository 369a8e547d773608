-- Says in a task that our transaction has ended why it is not repeated.
-- $1 id, $2 why
UPDATE :table AS t
SET error = concat_ws(E'\n', t.error, $2::text)
WHERE t.id = $1::int8
    AND :written
