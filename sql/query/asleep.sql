-- The leader falls asleep: INSERTs of tasks tell it from now on.
-- $1 number of the table's lock
SELECT pg_try_advisory_lock($1)
