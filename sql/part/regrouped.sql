-- Whether limits of groups have changed since a version of them: NULL if not.
CASE
        WHEN coalesce((
            SELECT pg_catalog.pg_sequence_last_value(c.oid::pg_catalog.regclass)
            FROM pg_catalog.pg_class AS c -- it may be gone
            WHERE c.oid OPERATOR(pg_catalog.=) :group_sequence::pg_catalog.oid
        ), 0) OPERATOR(pg_catalog.<>) $7::pg_catalog.int8
            THEN true
    END
