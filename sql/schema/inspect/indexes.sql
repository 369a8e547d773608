-- The valid and ready indexes, with their key columns.
SELECT
    i.indisunique AND i.indimmediate,
    i.indisprimary,
    ARRAY(
        SELECT coalesce(a.attname::text, '')
        FROM generate_series(0, i.indnkeyatts - 1) AS k
        LEFT JOIN pg_attribute AS a ON a.attrelid = i.indrelid
            AND a.attnum = i.indkey[k]
        ORDER BY k
    ),
    coalesce(pg_get_expr(i.indpred, i.indrelid), '')
FROM pg_index AS i
WHERE i.indrelid = $1::int8::oid
    AND i.indisvalid
    AND i.indisready;
