-- A partition's leader shares the lock of each table above: none of them can be led meanwhile.
-- $1 key of that table, as in lock
SELECT pg_catalog.pg_try_advisory_lock_shared($1)
