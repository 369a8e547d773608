-- The sequence that id's default, or its identity, draws from.
SELECT s.oid::int8
FROM pg_attribute AS a
LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid
    AND d.adnum = a.attnum
JOIN pg_depend AS p ON (
        p.classid = 'pg_attrdef'::regclass
        AND p.objid = d.oid
        AND p.refclassid = 'pg_class'::regclass
        AND pg_get_expr(d.adbin, d.adrelid) ~ '^nextval\(''[^'']*''::regclass\)$'
    )
    OR (
        p.classid = 'pg_class'::regclass
        AND p.refclassid = 'pg_class'::regclass
        AND p.refobjid = a.attrelid
        AND p.refobjsubid = a.attnum
        AND p.deptype = 'i'
        AND a.attidentity <> ''
    )
JOIN pg_class AS s ON s.relkind = 'S'
    AND s.oid = CASE WHEN a.attidentity = '' THEN p.refobjid ELSE p.objid END
WHERE a.attrelid = $1::int8::oid
    AND a.attname = 'id'
LIMIT 1;
