-- What the type t is made of: a domain of its base, an array of its element, a range of its subtype,
-- a multirange of its range, a composite of its fields. Sets of few rows, by what the planner knows,
-- or it would compile the query.
CROSS JOIN LATERAL pg_catalog.unnest(
    ARRAY[
        t.typbasetype,
        t.typelem,
        (SELECT r.rngsubtype FROM pg_catalog.pg_range AS r WHERE r.rngtypid OPERATOR(pg_catalog.=) t.oid),
        (
            SELECT r.rngtypid
            FROM pg_catalog.pg_range AS r
            WHERE t.typtype OPERATOR(pg_catalog.=) 'm'
                AND (pg_catalog.to_jsonb(r) OPERATOR(pg_catalog.->>) 'rngmultitypid')::pg_catalog.oid OPERATOR(pg_catalog.=) t.oid -- since 14
        )
    ] OPERATOR(pg_catalog.||) ARRAY(
        SELECT a.atttypid
        FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid OPERATOR(pg_catalog.=) t.typrelid AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped
    )
) AS of (oid)
