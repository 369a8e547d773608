-- Says in a task that our transaction has ended why it is not repeated.
-- $1 id, $2 why
UPDATE :table AS t
SET error = pg_catalog.concat_ws(E'\n', t.error, $2::pg_catalog.text)
WHERE t.id OPERATOR(pg_catalog.=) $1::pg_catalog.int8
    AND :written
