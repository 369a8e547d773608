-- Types that have a possible name of the state's type, and the column's type; which of our labels
-- an enum has.
-- $1 schema, $2 table, $3 labels
SELECT
    t.typname::text,
    t.oid::int8,
    t.typtype = 'e',
    ARRAY(
        SELECT e.enumlabel::text
        FROM pg_enum AS e
        WHERE e.enumtypid = t.oid
            AND e.enumlabel = ANY ($3::name[])
        ORDER BY e.enumsortorder
    )
FROM pg_type AS t
LEFT JOIN pg_namespace AS n ON n.oid = t.typnamespace
WHERE n.nspname = $1 AND t.typname = ANY ('{state,pgtaskd_state}'::name[])
    OR t.oid = (SELECT a.atttypid FROM pg_attribute AS a WHERE a.attrelid = $2::int8::oid AND a.attname = 'state');
