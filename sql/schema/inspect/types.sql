-- What bears a name that the state's type could have, with its labels if it is an enum.
SELECT
    t.typname::pg_catalog.text,
    t.oid::pg_catalog.int8,
    t.typtype OPERATOR(pg_catalog.=) 'e',
    ARRAY(SELECT e.enumlabel::pg_catalog.text FROM pg_catalog.pg_enum AS e WHERE e.enumtypid OPERATOR(pg_catalog.=) t.oid ORDER BY e.enumsortorder),
    pg_catalog.obj_description(t.oid, 'pg_type') IS NOT NULL
FROM pg_catalog.pg_type AS t
LEFT JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) t.typnamespace
WHERE n.nspname OPERATOR(pg_catalog.=) $1 AND (t.typname OPERATOR(pg_catalog.=) 'state' OR t.typname OPERATOR(pg_catalog.~~) E'pgtaskd\\_state%')
    OR t.oid OPERATOR(pg_catalog.=) $2::pg_catalog.int8::pg_catalog.oid;
