-- Whether the table has ever had a task, or has one now whose id was given; and when the server
-- last crashed. It looks at the sequence first: to find that a table is empty, the server reads all
-- pages of dead rows.
SELECT
    (
        SELECT bool_or(pg_sequence_last_value(c.oid::regclass) IS NOT NULL)
        FROM pg_class AS c
        WHERE c.oid = :sequence::oid
            AND has_sequence_privilege(c.oid, 'SELECT, USAGE')
    ) IS TRUE OR EXISTS (SELECT FROM :table),
    :crashed
