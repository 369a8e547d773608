-- What the type t is made of: a domain of its base, an array of its element, a range of its subtype,
-- a multirange of its range, a composite of its fields. Sets of few rows, by what the planner knows,
-- or it would compile the query.
CROSS JOIN LATERAL unnest(
    ARRAY[
        t.typbasetype,
        t.typelem,
        (SELECT r.rngsubtype FROM pg_range AS r WHERE r.rngtypid = t.oid),
        (
            SELECT r.rngtypid
            FROM pg_range AS r
            WHERE t.typtype = 'm'
                AND (to_jsonb(r) ->> 'rngmultitypid')::oid = t.oid -- since 14
        )
    ] || ARRAY(
        SELECT a.atttypid
        FROM pg_attribute AS a
        WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
    )
) AS of (oid)
