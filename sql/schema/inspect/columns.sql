-- A domain counts as what it is made of.
WITH RECURSIVE base AS (
    SELECT t.oid AS type, t.oid, t.typtype, t.typbasetype
    FROM pg_catalog.pg_type AS t
    WHERE t.oid IN (SELECT atttypid FROM pg_catalog.pg_attribute WHERE attrelid = $1::pg_catalog.int8::pg_catalog.oid)
    UNION ALL
    SELECT b.type, t.oid, t.typtype, t.typbasetype
    FROM base AS b
    JOIN pg_catalog.pg_type AS t ON t.oid = b.typbasetype
)
SELECT a.attname::pg_catalog.text,
    CASE WHEN n.nspname = 'pg_catalog' THEN pg_catalog.format_type(a.atttypid, NULL)
        ELSE pg_catalog.format('%I.%I', n.nspname, named.typname) END,
    CASE WHEN n.nspname OPERATOR(pg_catalog.=) 'pg_catalog' THEN pg_catalog.format('%I.%I', n.nspname, named.typname) ELSE '' END,
    t.typname::pg_catalog.text,
    t.typtype::pg_catalog.text,
    t.oid::pg_catalog.int8,
    a.attnotnull,
    a.attgenerated <> '',
    a.attidentity <> '',
    coalesce(pg_catalog.pg_get_expr(d.adbin, d.adrelid), ''),
    pg_catalog.col_description(a.attrelid, a.attnum) IS NOT NULL
FROM pg_catalog.pg_attribute AS a
JOIN base AS b ON b.type = a.atttypid AND b.typtype <> 'd'
JOIN pg_catalog.pg_type AS t ON t.oid = b.oid
JOIN pg_catalog.pg_type AS named ON named.oid = a.atttypid
JOIN pg_catalog.pg_namespace AS n ON n.oid = named.typnamespace
LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = $1::pg_catalog.int8::pg_catalog.oid AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum;
