-- The version of the limits of groups, and whether no session is about to commit a change of them:
-- a session that makes one holds the lock. This reads the version first: if nobody holds the lock
-- then, the changes that the version counts are committed, and the next statement sees them.
SELECT
    v.version,
    CASE
        WHEN pg_try_advisory_lock(:limits + :group_number)
            THEN pg_advisory_unlock(:limits + :group_number)
        ELSE false
    END
FROM (
    SELECT coalesce((
        SELECT pg_sequence_last_value(c.oid::regclass)
        FROM pg_class AS c
        WHERE c.oid = :group_sequence::oid
    ), 0) AS version
    OFFSET 0 -- keeps this a subquery of its own
) AS v
