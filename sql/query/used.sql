-- Whether the table has had a task, in any state, or has one whose id was given, and when the server
-- has crashed last. The sequence comes first: to find that a table has no row, the server reads all
-- pages of dead ones.
SELECT
    (
        SELECT bool_or(pg_sequence_last_value(c.oid::regclass) IS NOT NULL)
        FROM pg_class AS c
        WHERE c.oid = :sequence::oid
            AND has_sequence_privilege(c.oid, 'SELECT, USAGE')
    ) IS TRUE OR EXISTS (SELECT FROM :table),
    :crashed
