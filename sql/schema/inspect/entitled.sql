-- Whether the table of tokens and its functions belong to the serving role, no dump has brought the
-- table, and nobody else can write tokens, or has a right to them or a trigger there, or a function
-- that could be taken for the one that writes ends; and the text of the functions.
-- $1 schema, $2 name of the table of tokens, $3 the serving role, $4 how the comments end of what was
-- made on this server
SELECT
    EXISTS (
        SELECT
        FROM pg_class AS c
        WHERE c.relnamespace = n.oid
            AND c.relname = $2::text
            AND c.relkind = 'r'
            AND c.relowner = r.oid
            AND :closed_told
            AND :unshared
    ) AND cardinality(f.sources) = 2
    AND NOT EXISTS ( -- as in entitle.sql
        SELECT
        FROM pg_proc AS p
        JOIN pg_type AS t ON t.oid = ANY (p.proargtypes)
        WHERE p.pronamespace = n.oid
            AND p.proname = replace($2::text, '_token_', '_end_')::name
            AND p.proowner <> r.oid
            AND t.typnamespace = n.oid
            AND t.typname = replace($2::text, '_token_', '_call_')::name
    ),
    f.sources
FROM pg_namespace AS n
JOIN pg_roles AS r ON r.rolname = $3::text
CROSS JOIN LATERAL (
    SELECT ARRAY(
        SELECT p.prosrc
        FROM pg_proc AS p
        WHERE p.pronamespace = n.oid
            AND p.proname = ANY (ARRAY[$2::text, replace($2::text, '_token_', '_end_')]::name[])
            AND p.proowner = r.oid
            AND (p.prosecdef OR p.proname = $2::text)
    ) AS sources
) AS f
WHERE n.nspname = $1;
