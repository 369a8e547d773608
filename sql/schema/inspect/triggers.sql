-- All, with the functions that they call. Those that a partition has from its whole are internal
-- before PostgreSQL 15. Which of them guard each row that is inserted or updated: as
-- inspect/below.sql has it.
SELECT
    t.tgname::text,
    t.tgenabled = ANY ('{O,A}'),
    t.tgenabled = 'A',
    t.tgenabled = 'A' AND t.tgqual IS NULL AND cardinality(t.tgattr::int2[]) = 0
        AND t.tgtype = 23::int2,
    EXISTS (
        SELECT
        FROM pg_description AS s
        WHERE s.objoid = t.oid
            AND s.classoid = 'pg_trigger'::regclass
            AND s.objsubid = 0
    ),
    p.proname::text,
    encode(t.tgargs, 'escape'),
    p.pronamespace = c.relnamespace,
    t.tgdeferrable
FROM pg_trigger AS t
JOIN pg_proc AS p ON p.oid = t.tgfoid
JOIN pg_class AS c ON c.oid = t.tgrelid
WHERE t.tgrelid = $1::int8::oid;
