-- true if the limits of groups have changed since version $6, else NULL.
CASE
        WHEN coalesce((
            SELECT pg_sequence_last_value(c.oid::regclass)
            FROM pg_class AS c -- the sequence may be gone
            WHERE c.oid = :group_sequence::oid
        ), 0) <> $6::int8
            THEN true
    END
