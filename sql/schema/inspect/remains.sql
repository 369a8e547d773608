-- Whether an earlier version has made things under names with the table's hash: its functions took this type.
-- $1 schema, $2 the table's hash
SELECT EXISTS (
    SELECT
    FROM pg_type AS t
    JOIN pg_namespace AS n ON n.oid = t.typnamespace
    WHERE n.nspname = $1::text AND t.typname = 'pgtaskd_call_' || $2::text AND pg_has_role(t.typowner, 'USAGE')
)
