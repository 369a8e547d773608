-- The oid of the sequence that the column id draws from, by its default or as an identity; 0 if not
-- known. Statements look it up each time, since the column may have got another sequence. The
-- catalog has an index for each of the two cases.
coalesce((
    SELECT s.oid::int8
    FROM pg_attribute AS a
    LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid
        AND d.adnum = a.attnum
    CROSS JOIN LATERAL (
        SELECT p.refobjid AS oid
        FROM pg_depend AS p
        WHERE p.classid = 'pg_attrdef'::regclass
            AND p.objid = d.oid
            AND p.refclassid = 'pg_class'::regclass
            AND pg_get_expr(d.adbin, d.adrelid) ~ '^nextval\(''[^'']*''::regclass\)$'
        UNION ALL
        SELECT p.objid
        FROM pg_depend AS p
        WHERE p.refclassid = 'pg_class'::regclass
            AND p.refobjid = a.attrelid
            AND p.refobjsubid = a.attnum
            AND p.classid = 'pg_class'::regclass
            AND p.deptype = 'i'
    ) AS p
    JOIN pg_class AS s ON s.oid = p.oid
        AND s.relkind = 'S'
    WHERE a.attrelid = :table_number::oid
        AND a.attname = 'id'
    LIMIT 1
), 0)
