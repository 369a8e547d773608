-- All, with the functions that they call. Those that a partition has from its whole are internal
-- before PostgreSQL 15. Which of them guard each row that is inserted or updated: as inspect/below.sql
-- has it.
SELECT
    t.tgname::pg_catalog.text,
    t.tgenabled OPERATOR(pg_catalog.=) ANY ('{O,A}'),
    t.tgenabled OPERATOR(pg_catalog.=) 'A' AND t.tgqual IS NULL AND pg_catalog.cardinality(t.tgattr::pg_catalog.int2[]) OPERATOR(pg_catalog.=) 0
        AND t.tgtype OPERATOR(pg_catalog.=) 23::pg_catalog.int2,
    EXISTS (
        SELECT
        FROM pg_catalog.pg_description AS s
        WHERE s.objoid OPERATOR(pg_catalog.=) t.oid
            AND s.classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_trigger'::pg_catalog.regclass
            AND s.objsubid OPERATOR(pg_catalog.=) 0
    ),
    p.proname::pg_catalog.text,
    p.pronamespace OPERATOR(pg_catalog.=) c.relnamespace,
    t.tgdeferrable
FROM pg_catalog.pg_trigger AS t
JOIN pg_catalog.pg_proc AS p ON p.oid OPERATOR(pg_catalog.=) t.tgfoid
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) t.tgrelid
WHERE t.tgrelid OPERATOR(pg_catalog.=) $1::pg_catalog.int8::pg_catalog.oid;
