-- Why a task waits.
-- $1 id
SELECT coalesce(:its_why($1::int8), '')
