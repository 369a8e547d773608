-- The sequence that id's default, or its identity, draws from.
SELECT s.oid::pg_catalog.int8
FROM pg_catalog.pg_attribute AS a
LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid OPERATOR(pg_catalog.=) a.attrelid
    AND d.adnum OPERATOR(pg_catalog.=) a.attnum
JOIN pg_catalog.pg_depend AS p ON (
        p.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_attrdef'::pg_catalog.regclass
        AND p.objid OPERATOR(pg_catalog.=) d.oid
        AND p.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
        AND pg_catalog.pg_get_expr(d.adbin, d.adrelid) OPERATOR(pg_catalog.~) '^nextval\(''[^'']*''::regclass\)$'
    )
    OR (
        p.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
        AND p.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
        AND p.refobjid OPERATOR(pg_catalog.=) a.attrelid
        AND p.refobjsubid OPERATOR(pg_catalog.=) a.attnum
        AND p.deptype OPERATOR(pg_catalog.=) 'i'
        AND a.attidentity OPERATOR(pg_catalog.<>) ''
    )
JOIN pg_catalog.pg_class AS s ON s.relkind OPERATOR(pg_catalog.=) 'S'
    AND s.oid OPERATOR(pg_catalog.=) CASE WHEN a.attidentity OPERATOR(pg_catalog.=) '' THEN p.refobjid ELSE p.objid END
WHERE a.attrelid OPERATOR(pg_catalog.=) $1::pg_catalog.int8::pg_catalog.oid
    AND a.attname OPERATOR(pg_catalog.=) 'id'
LIMIT 1;
