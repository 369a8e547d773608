-- Whether the table of tokens and its functions belong to the serving role, no dump has brought the
-- table, and nobody else can write tokens, or has a right to them or a trigger there, or a function
-- that could be taken for the one that writes ends; and the text of the functions.
-- $1 schema, $2 name of the table of tokens, $3 the serving role, $4 how the comments end of what was
-- made on this server
SELECT
    EXISTS (
        SELECT
        FROM pg_catalog.pg_class AS c
        WHERE c.relnamespace OPERATOR(pg_catalog.=) n.oid
            AND c.relname OPERATOR(pg_catalog.=) $2::pg_catalog.text
            AND c.relkind OPERATOR(pg_catalog.=) 'r'
            AND c.relowner OPERATOR(pg_catalog.=) r.oid
            AND :closed_told
            AND :unshared
    ) AND pg_catalog.cardinality(f.sources) OPERATOR(pg_catalog.=) 2
    AND NOT EXISTS ( -- as in entitle.sql
        SELECT
        FROM pg_catalog.pg_proc AS p
        JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) ANY (p.proargtypes)
        WHERE p.pronamespace OPERATOR(pg_catalog.=) n.oid
            AND p.proname OPERATOR(pg_catalog.=) pg_catalog.replace($2::pg_catalog.text, '_token_', '_end_')::pg_catalog.name
            AND p.proowner OPERATOR(pg_catalog.<>) r.oid
            AND t.typnamespace OPERATOR(pg_catalog.=) n.oid
            AND t.typname OPERATOR(pg_catalog.=) pg_catalog.replace($2::pg_catalog.text, '_token_', '_call_')::pg_catalog.name
    ),
    f.sources
FROM pg_catalog.pg_namespace AS n
JOIN pg_catalog.pg_roles AS r ON r.rolname OPERATOR(pg_catalog.=) $3::pg_catalog.text
CROSS JOIN LATERAL (
    SELECT ARRAY(
        SELECT p.prosrc
        FROM pg_catalog.pg_proc AS p
        WHERE p.pronamespace OPERATOR(pg_catalog.=) n.oid
            AND p.proname OPERATOR(pg_catalog.=) ANY (ARRAY[$2::pg_catalog.text, pg_catalog.replace($2::pg_catalog.text, '_token_', '_end_')]::pg_catalog.name[])
            AND p.proowner OPERATOR(pg_catalog.=) r.oid
            AND (p.prosecdef OR p.proname OPERATOR(pg_catalog.=) $2::pg_catalog.text)
    ) AS sources
) AS f
WHERE n.nspname OPERATOR(pg_catalog.=) $1;
