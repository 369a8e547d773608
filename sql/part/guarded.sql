-- Whether the trigger that fills and guards the column role of a table or part always fires. It
-- must call the same function as the trigger of the whole table, if that has one: another function
-- may know another serving role.
EXISTS (
    SELECT
    FROM pg_trigger AS g
    JOIN pg_proc AS p ON p.oid = g.tgfoid AND p.proname = 'pgtaskd_role'
    WHERE g.tgrelid = :guarded_part AND g.tgname = 'pgtaskd_role'
        AND g.tgenabled = 'A' AND g.tgqual IS NULL AND cardinality(g.tgattr::int2[]) = 0
        AND g.tgtype = 23::int2 -- BEFORE INSERT OR UPDATE FOR EACH ROW
        AND NOT EXISTS (
            SELECT
            FROM pg_trigger AS w
            JOIN pg_proc AS q ON q.oid = w.tgfoid
            WHERE w.tgrelid = :guarded_whole AND w.tgname = 'pgtaskd_role' AND (q.prosrc <> p.prosrc OR w.tgargs <> g.tgargs)
        )
)
