-- The schemas of the search_path in which everybody may create something.
SELECT coalesce(array_agg(n.nspname::text ORDER BY n.nspname), '{}')
FROM pg_namespace AS n
CROSS JOIN LATERAL aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) AS a
WHERE n.nspname = ANY (current_schemas(false))
    AND n.nspname <> 'pg_catalog'
    AND a.grantee = 0
    AND a.privilege_type = 'CREATE'
