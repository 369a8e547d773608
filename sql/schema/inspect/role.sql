-- The connection's user, and whether it may make something beside the table: it could be the table's
-- owner.
-- $1 schema, $2 table
SELECT
    quote_ident(current_user),
    coalesce((
        SELECT has_schema_privilege(n.oid, 'CREATE') AND pg_has_role(c.relowner, 'USAGE')
        FROM pg_namespace AS n
        JOIN pg_class AS c ON c.relnamespace = n.oid
        WHERE n.nspname = $1::text AND c.relname = $2::text
    ), false)
