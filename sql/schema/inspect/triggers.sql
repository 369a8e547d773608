-- All, with the functions that they call. Those that a partition has from its whole are internal
-- before PostgreSQL 15. Which of them guard each row that is inserted or updated: as
-- inspect/below.sql has it.
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
