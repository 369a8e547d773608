-- What an earlier version has made under names with the table's hash, and the role may drop: first
-- what depends on others.
-- $1 schema, $2 table, $3 the table's hash
SELECT x.kind, x.name, x.sql
FROM pg_namespace AS n
CROSS JOIN LATERAL (
    SELECT 1 AS place, 'trigger' AS kind, g.tgname::text AS name, format('DROP TRIGGER pgtaskd_own ON %I.%I', n.nspname, c.relname) AS sql, c.relowner AS owner
    FROM pg_class AS c
    JOIN pg_trigger AS g ON g.tgrelid = c.oid AND g.tgname = 'pgtaskd_own' AND NOT g.tgisinternal
    WHERE c.relnamespace = n.oid AND c.relname = $2::text
    UNION ALL
    SELECT 2, 'table', c.relname::text, format('DROP TABLE %I.%I', n.nspname, c.relname), c.relowner
    FROM pg_class AS c
    WHERE c.relnamespace = n.oid AND c.relkind = 'r' AND c.relname = ANY (ARRAY['pgtaskd_token_' || $3::text, 'pgtaskd_session_' || $3::text])
    UNION ALL
    SELECT 3, 'function', p.proname::text, format('DROP FUNCTION %s', p.oid::regprocedure), p.proowner
    FROM pg_proc AS p
    WHERE p.pronamespace = n.oid AND p.proname ~ '^pgtaskd_[a-z_]+_[0-9a-f]{16}$' AND right(p.proname, 16) = $3::text
    UNION ALL
    SELECT 4, 'domain', t.typname::text, format('DROP DOMAIN %I.%I', n.nspname, t.typname), t.typowner
    FROM pg_type AS t
    WHERE t.typnamespace = n.oid AND t.typname = 'pgtaskd_call_' || $3::text
    UNION ALL
    SELECT 0, 'sequence', c.relname::text, '', c.relowner
    FROM pg_class AS c
    WHERE c.relnamespace = n.oid AND c.relkind = 'S' AND c.relname = 'pgtaskd_group_' || $3::text
) AS x
WHERE n.nspname = $1::text AND pg_has_role(x.owner, 'USAGE')
ORDER BY x.place, x.name
