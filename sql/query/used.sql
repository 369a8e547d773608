-- Whether the table has a task, whatever its state, or has had one, and when the server has crashed
-- last.
SELECT
    EXISTS (SELECT FROM :table) OR (
        SELECT pg_catalog.bool_or(pg_catalog.pg_sequence_last_value(c.oid::pg_catalog.regclass) IS NOT NULL)
        FROM pg_catalog.pg_class AS c
        WHERE c.oid OPERATOR(pg_catalog.=) :sequence::pg_catalog.oid
            AND pg_catalog.has_sequence_privilege(c.oid, 'SELECT, USAGE')
    ) IS TRUE,
    :crashed
