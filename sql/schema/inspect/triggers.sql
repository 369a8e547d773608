-- All, with the functions that they call. Those that a partition has from its whole are internal before PostgreSQL 15.
SELECT
    t.tgname::pg_catalog.text,
    t.tgenabled OPERATOR(pg_catalog.=) ANY ('{O,A}'),
    pg_catalog.obj_description(t.oid, 'pg_trigger') IS NOT NULL,
    p.proname::pg_catalog.text,
    p.pronamespace OPERATOR(pg_catalog.=) c.relnamespace
FROM pg_catalog.pg_trigger AS t
JOIN pg_catalog.pg_proc AS p ON p.oid OPERATOR(pg_catalog.=) t.tgfoid
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) t.tgrelid
WHERE t.tgrelid OPERATOR(pg_catalog.=) $1::pg_catalog.int8::pg_catalog.oid;
