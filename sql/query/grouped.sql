-- The version of the limits of groups, and whether no change of them is about to be committed: who
-- makes one holds the lock. The version is read first, so that what it counts is committed, and
-- seen by the next statement, where nobody holds it.
SELECT
    v.version,
    CASE
        WHEN pg_catalog.pg_try_advisory_lock(:limits OPERATOR(pg_catalog.+) :group_number)
            THEN pg_catalog.pg_advisory_unlock(:limits OPERATOR(pg_catalog.+) :group_number)
        ELSE false
    END
FROM (
    SELECT coalesce((
        SELECT pg_catalog.pg_sequence_last_value(c.oid::pg_catalog.regclass)
        FROM pg_catalog.pg_class AS c
        WHERE c.oid OPERATOR(pg_catalog.=) :group_sequence::pg_catalog.oid
    ), 0) AS version
    OFFSET 0 -- a subquery of its own
) AS v
