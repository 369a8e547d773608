-- The leader goes to sleep: from now on INSERTs wake it.
-- $1 number of the table's lock
SELECT pg_try_advisory_lock($1)
