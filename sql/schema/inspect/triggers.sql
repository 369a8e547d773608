-- All triggers, with their functions, and whether each guards every row that is inserted or updated
-- (as in inspect/below.sql). Before PostgreSQL 15 triggers that a partition has from its whole are
-- internal.
SELECT
    t.tgname::text,
    t.tgenabled = ANY ('{O,A}'),
    t.tgenabled = 'A' AND t.tgqual IS NULL AND cardinality(t.tgattr::int2[]) = 0
        AND t.tgtype = 23::int2,
    p.proname::text,
    p.pronamespace = c.relnamespace,
    coalesce(obj_description(t.oid, 'pg_trigger'), '')
FROM pg_trigger AS t
JOIN pg_proc AS p ON p.oid = t.tgfoid
JOIN pg_class AS c ON c.oid = t.tgrelid
WHERE t.tgrelid = $1::int8::oid;
