-- The leader falls asleep: who inserts tasks tells it from now on.
-- $1 number of the table's lock
SELECT pg_try_advisory_lock($1)
