-- A domain counts as what it is made of.
WITH RECURSIVE base AS (
    SELECT t.oid AS type, t.oid, t.typtype, t.typbasetype
    FROM pg_catalog.pg_type AS t
    WHERE t.oid OPERATOR(pg_catalog.=) ANY (SELECT a.atttypid FROM pg_catalog.pg_attribute AS a WHERE a.attrelid OPERATOR(pg_catalog.=) $1::pg_catalog.int8::pg_catalog.oid)
    UNION ALL
    SELECT b.type, t.oid, t.typtype, t.typbasetype
    FROM base AS b
    JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) b.typbasetype
)
SELECT
    a.attname::pg_catalog.text,
    CASE
        WHEN n.nspname OPERATOR(pg_catalog.=) 'pg_catalog' THEN pg_catalog.format_type(a.atttypid, NULL)
        ELSE pg_catalog.format('%I.%I', n.nspname, named.typname)
    END,
    pg_catalog.format('%I.%I', n.nspname, named.typname),
    CASE WHEN n.nspname OPERATOR(pg_catalog.=) 'pg_catalog' THEN pg_catalog.format('%I.%I', n.nspname, named.typname) ELSE '' END,
    t.typname::pg_catalog.text,
    t.typtype::pg_catalog.text,
    t.oid::pg_catalog.int8,
    a.attnotnull,
    a.attgenerated OPERATOR(pg_catalog.<>) '',
    a.attidentity OPERATOR(pg_catalog.<>) '',
    coalesce(pg_catalog.pg_get_expr(d.adbin, d.adrelid), ''),
    s.objoid IS NOT NULL,
    (s.description OPERATOR(pg_catalog.=) 'believed') IS TRUE
FROM pg_catalog.pg_attribute AS a
JOIN base AS b ON b.type OPERATOR(pg_catalog.=) a.atttypid AND b.typtype OPERATOR(pg_catalog.<>) 'd'
JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) b.oid
JOIN pg_catalog.pg_type AS named ON named.oid OPERATOR(pg_catalog.=) a.atttypid
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) named.typnamespace
LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid OPERATOR(pg_catalog.=) a.attrelid AND d.adnum OPERATOR(pg_catalog.=) a.attnum
LEFT JOIN pg_catalog.pg_description AS s ON s.objoid OPERATOR(pg_catalog.=) a.attrelid AND s.objsubid OPERATOR(pg_catalog.=) a.attnum
    AND s.classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
WHERE a.attrelid OPERATOR(pg_catalog.=) $1::pg_catalog.int8::pg_catalog.oid
    AND a.attnum OPERATOR(pg_catalog.>) 0
    AND NOT a.attisdropped
ORDER BY a.attnum;
