-- Those that can be relied on, with their key columns, but for those of an earlier version.
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
JOIN pg_class AS c ON c.oid = i.indexrelid
WHERE i.indrelid = $1::int8::oid
    AND i.indisvalid
    AND i.indisready
    AND c.relname !~ '^pgtaskd_[a-z_]+_[0-9a-f]{16}$';
