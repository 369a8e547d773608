-- Whether limits of groups have changed since a version of them: NULL if not.
CASE
        WHEN coalesce((
            SELECT pg_sequence_last_value(c.oid::regclass)
            FROM pg_class AS c -- it may be gone
            WHERE c.oid = :group_sequence::oid
        ), 0) <> $6::int8
            THEN true
    END
