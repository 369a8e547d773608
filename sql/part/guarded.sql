-- Whether the trigger that fills and guards the column role of a table or part fires, whatever a
-- session sets, and does what that of the whole table does, where there is one: another function may
-- know another serving role.
EXISTS (
    SELECT
    FROM pg_catalog.pg_trigger AS g
    JOIN pg_catalog.pg_proc AS p ON p.oid OPERATOR(pg_catalog.=) g.tgfoid AND p.proname OPERATOR(pg_catalog.~) '^pgtaskd_role_'
    WHERE g.tgrelid OPERATOR(pg_catalog.=) :guarded_part AND g.tgname OPERATOR(pg_catalog.=) 'pgtaskd_role'
        AND g.tgenabled OPERATOR(pg_catalog.=) 'A' AND g.tgqual IS NULL AND pg_catalog.cardinality(g.tgattr::pg_catalog.int2[]) OPERATOR(pg_catalog.=) 0
        AND g.tgtype OPERATOR(pg_catalog.=) 23::pg_catalog.int2 -- BEFORE INSERT OR UPDATE FOR EACH ROW
        AND NOT EXISTS (
            SELECT
            FROM pg_catalog.pg_trigger AS w
            JOIN pg_catalog.pg_proc AS q ON q.oid OPERATOR(pg_catalog.=) w.tgfoid
            WHERE w.tgrelid OPERATOR(pg_catalog.=) :guarded_whole AND w.tgname OPERATOR(pg_catalog.=) 'pgtaskd_role' AND q.prosrc OPERATOR(pg_catalog.<>) p.prosrc
        )
)
