-- The leader wakes: INSERTs of tasks need not tell it any more.
-- $1 number of the lock that asleep has taken
SELECT pg_advisory_unlock($1)
