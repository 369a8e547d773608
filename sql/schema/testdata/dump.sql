-- The schema of a task table, a line for each thing, as the catalogs tell it.
WITH task AS (SELECT 'public.task'::regclass AS oid)
SELECT concat_ws(' ', 'type', t.typname, string_agg(e.enumlabel, ' ' ORDER BY e.enumsortorder), obj_description(t.oid, 'pg_type'))
FROM pg_type AS t
JOIN pg_enum AS e ON e.enumtypid = t.oid
GROUP BY t.oid, t.typname
UNION ALL
SELECT line
FROM (
    SELECT concat_ws(' ', 'column', quote_ident(a.attname), format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN 'NOT NULL' END,
        CASE a.attgenerated WHEN '' THEN 'DEFAULT' ELSE 'GENERATED' END || ' ' || pg_get_expr(d.adbin, d.adrelid),
        '-- ' || col_description(a.attrelid, a.attnum)) AS line
    FROM pg_attribute AS a
    LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE a.attrelid = (SELECT oid FROM task) AND a.attnum > 0
    ORDER BY a.attnum
) AS columns
UNION ALL
SELECT line
FROM (
    SELECT concat_ws(' ', 'constraint', conname, pg_get_constraintdef(oid)) AS line
    FROM pg_constraint
    WHERE conrelid = (SELECT oid FROM task) AND contype <> 'n'
    ORDER BY contype, conname
) AS constraints
UNION ALL
SELECT line
FROM (
    SELECT concat_ws(' ', 'index', pg_get_indexdef(indexrelid), '-- ' || obj_description(indexrelid, 'pg_class')) AS line
    FROM pg_index
    WHERE indrelid = (SELECT oid FROM task)
    ORDER BY indexrelid::regclass::text
) AS indexes
UNION ALL
SELECT line
FROM (
    SELECT concat_ws(' ', 'trigger', pg_get_triggerdef(oid), '-- ' || obj_description(oid, 'pg_trigger')) AS line
    FROM pg_trigger
    WHERE tgrelid = (SELECT oid FROM task) AND NOT tgisinternal
    ORDER BY tgname
) AS triggers
UNION ALL
SELECT line
FROM (
    SELECT concat_ws(' ', 'function', oid::regprocedure, md5(prosrc), proconfig, '-- ' || obj_description(oid, 'pg_proc')) AS line
    FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace
    ORDER BY proname
) AS functions
UNION ALL
SELECT concat_ws(' ', 'table', c.reloptions, '-- ' || obj_description(c.oid, 'pg_class'))
FROM pg_class AS c
WHERE c.oid = (SELECT oid FROM task)
UNION ALL
SELECT concat_ws(' ', 'register', c.relname, CASE c.relpersistence WHEN 'u' THEN 'UNLOGGED' END, c.relacl,
    (SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' -- ' || col_description(c.oid, a.attnum), ', ' ORDER BY a.attnum) FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0),
    (SELECT string_agg(pg_get_constraintdef(k.oid), ' ') FROM pg_constraint AS k WHERE k.conrelid = c.oid AND k.contype <> 'n'), '-- ' || obj_description(c.oid, 'pg_class'))
FROM pg_class AS c
WHERE c.relname LIKE 'pgtaskd\_session\_%' AND c.relkind = 'r'
UNION ALL
SELECT line
FROM (
    SELECT concat_ws(' ', 'beside', CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' END, c.relname, c.reloptions, c.relacl,
        (SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || coalesce(' ' || a.attacl::text, '') || ' -- ' || coalesce(col_description(c.oid, a.attnum), ''), ', ' ORDER BY a.attnum) FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0),
        (SELECT string_agg(pg_get_constraintdef(k.oid), ' ') FROM pg_constraint AS k WHERE k.conrelid = c.oid AND k.contype <> 'n'), '-- ' || obj_description(c.oid, 'pg_class')) AS line
    FROM pg_class AS c
    WHERE c.relname LIKE 'task\_%' AND c.relkind IN ('r', 'v')
    ORDER BY c.relname
) AS besides
