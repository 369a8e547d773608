-- Why a task waits.
-- $1 id
SELECT coalesce(:why($1::pg_catalog.int8)::pg_catalog.text, '')
