-- The columns; a domain counts as its base type.
WITH RECURSIVE base AS (
    SELECT t.oid AS type, t.oid, t.typtype, t.typbasetype
    FROM pg_type AS t
    WHERE t.oid = ANY (SELECT a.atttypid FROM pg_attribute AS a WHERE a.attrelid = $1::int8::oid)
    UNION ALL
    SELECT b.type, t.oid, t.typtype, t.typbasetype
    FROM base AS b
    JOIN pg_type AS t ON t.oid = b.typbasetype
)
SELECT
    a.attname::text,
    CASE
        WHEN n.nspname = 'pg_catalog' THEN format_type(a.atttypid, NULL)
        ELSE format('%I.%I', n.nspname, named.typname)
    END,
    format('%I.%I', n.nspname, named.typname),
    t.typname::text,
    t.typtype::text,
    t.oid::int8,
    a.attnotnull,
    a.attgenerated <> '',
    a.attidentity <> '',
    coalesce(pg_get_expr(d.adbin, d.adrelid), ''),
    s.objoid IS NOT NULL
FROM pg_attribute AS a
JOIN base AS b ON b.type = a.atttypid AND b.typtype <> 'd'
JOIN pg_type AS t ON t.oid = b.oid
JOIN pg_type AS named ON named.oid = a.atttypid
JOIN pg_namespace AS n ON n.oid = named.typnamespace
LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
LEFT JOIN pg_description AS s ON s.objoid = a.attrelid AND s.objsubid = a.attnum
    AND s.classoid = 'pg_class'::regclass
WHERE a.attrelid = $1::int8::oid
    AND a.attnum > 0
    AND NOT a.attisdropped
ORDER BY a.attnum;
