-- The leader wakes: from now on INSERTs do not notify it.
-- $1 number of the lock that asleep.sql has taken
SELECT pg_advisory_unlock($1)
