-- Whether a session holds a lock on the table, or on a table below it, that keeps others from
-- writing rows, and whether other sessions do. It reads no row, so it waits for nobody.
-- $1 pid of the session
WITH RECURSIVE part AS (
    SELECT :table_number::oid AS oid
    UNION
    SELECT i.inhrelid
    FROM part
    JOIN pg_inherits AS i ON i.inhparent = part.oid
)
SELECT
    coalesce(bool_or(l.pid = $1::int4), false),
    coalesce(bool_or(l.pid IS DISTINCT FROM $1), false)
FROM pg_locks AS l
WHERE l.locktype = 'relation'
    AND l.granted
    AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
    AND l.relation IN (SELECT part.oid FROM part)
    AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
