-- Whether the schema exists; the server's version; the number by which our publication shows all
-- inserts into the table (0: it does not); the connection's user, and whether that user may make
-- objects beside the table, as its owner can.
-- $1 schema, $2 table, $3 publication
SELECT
    n.oid IS NOT NULL,
    current_setting('server_version_num')::int4,
    coalesce((
        SELECT r.oid::int8
        FROM pg_publication AS p
        JOIN pg_publication_rel AS r ON r.prpubid = p.oid
        WHERE p.pubname = $3::text
            AND r.prrelid = c.oid
            AND p.pubinsert
            AND to_jsonb(r) ->> 'prqual' IS NULL -- since 15
    ), 0),
    quote_ident(current_user),
    (has_schema_privilege(n.oid, 'CREATE') AND pg_has_role(c.relowner, 'USAGE')) IS TRUE
FROM (SELECT) AS one
LEFT JOIN pg_namespace AS n ON n.nspname = $1::text
LEFT JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = $2::text
