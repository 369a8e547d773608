-- Those that can be relied on, with their key columns.
SELECT
    i.indexrelid::pg_catalog.int8,
    c.relname::pg_catalog.text,
    i.indisunique AND i.indimmediate,
    i.indisprimary,
    ARRAY(
        SELECT coalesce(a.attname::pg_catalog.text, '')
        FROM pg_catalog.generate_series(0, i.indnkeyatts OPERATOR(pg_catalog.-) 1) AS k
        LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid
            AND a.attnum OPERATOR(pg_catalog.=) i.indkey[k]
        ORDER BY k
    ),
    coalesce(pg_catalog.pg_get_expr(i.indpred, i.indrelid), ''),
    EXISTS (
        SELECT
        FROM pg_catalog.pg_description AS s
        WHERE s.objoid OPERATOR(pg_catalog.=) i.indexrelid
            AND s.classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
            AND s.objsubid OPERATOR(pg_catalog.=) 0
    )
FROM pg_catalog.pg_index AS i
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) i.indexrelid
WHERE i.indrelid OPERATOR(pg_catalog.=) $1::pg_catalog.int8::pg_catalog.oid
    AND i.indisvalid
    AND i.indisready;
