-- The columns of a table that a copy can take over, quoted, and whether a trigger of ours fills the
-- column role.
-- $1 schema, $2 table, $3 columns that no copy takes over
SELECT
    coalesce(string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum), ''),
    coalesce(string_agg('t.' || quote_ident(a.attname), ', ' ORDER BY a.attnum), ''),
    EXISTS (
        SELECT
        FROM pg_trigger AS g
        WHERE g.tgrelid = c.oid
            AND g.tgname = 'pgtaskd_role'
    )
FROM pg_namespace AS n
JOIN pg_class AS c ON c.relnamespace = n.oid
JOIN pg_attribute AS a ON a.attrelid = c.oid
WHERE n.nspname = $1::text
    AND c.relname = $2::text
    AND a.attnum > 0
    AND NOT a.attisdropped
    AND a.attgenerated = ''
    AND a.attidentity = ''
    AND a.attname <> ALL ($3::text[])
GROUP BY c.oid
