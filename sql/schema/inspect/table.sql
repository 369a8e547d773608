SELECT
    c.oid::pg_catalog.int8,
    c.relkind::pg_catalog.text,
    coalesce((
        SELECT s.description
        FROM pg_catalog.pg_description AS s
        WHERE s.objoid OPERATOR(pg_catalog.=) c.oid
            AND s.classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
            AND s.objsubid OPERATOR(pg_catalog.=) 0
    ), ''),
    coalesce(c.reloptions, '{}'),
    c.relispartition,
    coalesce(pg_catalog.pg_partition_root(c.oid)::pg_catalog.oid, c.oid)::pg_catalog.int8,
    CASE WHEN pg_catalog.row_security_active(c.oid) AND (
        SELECT -- one lets all through, and none that restricts it does not
            coalesce(pg_catalog.bool_or(p.polpermissive AND p.polcmd OPERATOR(pg_catalog.=) '*' AND lets.all), false)
            AND coalesce(pg_catalog.bool_and(p.polpermissive OR lets.all), true)
        FROM pg_catalog.pg_policy AS p
        CROSS JOIN LATERAL (
            SELECT coalesce(pg_catalog.pg_get_expr(p.polqual, p.polrelid), 'true') OPERATOR(pg_catalog.=) 'true'
                AND coalesce(pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid), 'true') OPERATOR(pg_catalog.=) 'true' AS all
        ) AS lets
        WHERE p.polrelid OPERATOR(pg_catalog.=) c.oid
            AND EXISTS (
                SELECT
                FROM pg_catalog.unnest(p.polroles) AS r (oid)
                WHERE r.oid OPERATOR(pg_catalog.=) 0 OR pg_catalog.pg_has_role(r.oid, 'USAGE')
            )
    ) IS NOT TRUE THEN pg_catalog.quote_ident(current_user) ELSE '' END
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE n.nspname OPERATOR(pg_catalog.=) $1
    AND c.relname OPERATOR(pg_catalog.=) $2;
